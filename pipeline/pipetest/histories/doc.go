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
// In a quarter of those the clock closes steps, of 1 s to 1 min. Processes may be away for minutes, records may have
// the brokers' times or the producers', and users may have limits in periods. Each step must have one decision, also
// an empty one, with the sum of the events in its slots. If the part "clock" is left out, steps are by count.
//
// Each history has a neighbour: one record has other contents of the same size, and the same faults happen. Judges
// compare a history with a replay of its input without faults, and with its neighbour. By the clock a neighbour has a
// record or a user more or less, half of the histories have one, and their faults follow from times alone. Readers must
// see the same decisions except their numbers, with the same offsets, timestamps, epochs and markers, and the same
// messages. A history that fails is shrunk, and reported as a command line that plays it again.
//
// The run fails if some path of the list sometimes was not taken by any history. Otherwise nobody would notice a
// generator that no longer draws a fault.
package histories
