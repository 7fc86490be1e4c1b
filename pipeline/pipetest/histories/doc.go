// Package histories plays many short histories of a whole service and judges each.
//
// A seed draws a Script: a deployment, its input, and all that goes wrong. The same seed gives the same history, to the
// byte. One scheduler, the clock of a bubble of testing/synctest, decides what happens when: each message is on its way
// for a time that is drawn for it, so that no two things happen at one moment.
//
//	go test ./pipeline/pipetest/histories -histories 5000           many seeds
//	go test ./pipeline/pipetest/histories -seed 17 -v               one, with its trace
//	go test ./pipeline/pipetest/histories -seed 17 -without f1,b0   the same, less some of its parts
//
// In half of the histories the whole input is one stream. Partitions are added to it, more than one process may write
// its order log, and order records are late, sent again, forged, or of a leader that others have replaced. A judge
// reads the order log by the text of its rule. Without the part "whole", such a seed has one stream a partition.
//
// Each history has a neighbour beside it: one record has other contents of the same size, and the same things go wrong.
// Judges compare a history with a straight replay of its input, and with its neighbour. A history that fails is shrunk,
// and told as a line that plays it again.
//
// A path that no history has taken makes the run red (sometimes): else a generator that no longer draws a fault would
// pass unseen.
package histories
