// Package histories plays many short histories of a whole service and judges each.
//
// A seed draws a script: a deployment, its input, and all faults. The same seed gives the same history, to the byte.
// The order of events depends only on the clock of a testing/synctest bubble. Each message has a random latency of its
// own, so that no two events happen at the same moment.
//
//	go test ./pipeline/pipetest/histories -histories 5000           many seeds
//	go test ./pipeline/pipetest/histories -seed 17 -v               one, with its trace
//	go test ./pipeline/pipetest/histories -seed 17 -without f1,b0   the same, without some of its parts
//
// In half of the histories the whole input is one stream. Partitions are added to it, and more than one process may
// write its order log. Order records may be late, sent again, forged, or written by a leader that was replaced. A judge
// reads the order log with an independent implementation of its rule. If the part "whole" is left out, the seed has one
// stream for each partition.
//
// Each history has a neighbour: one record has other contents of the same size, and the same faults happen. Judges
// compare a history with a replay of its input without faults, and with its neighbour. A history that fails is shrunk,
// and reported as a command line that plays it again.
//
// The run fails if some path of the list sometimes was not taken by any history. Otherwise nobody would notice a
// generator that no longer draws a fault.
package histories
