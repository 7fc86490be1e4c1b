// Package order fixes the order in which the partitions of a topic are read as one stream.
//
// An order record states a fact: the input has reached these ends. A Sequencer appends such records to a log of one
// partition, before any event below the ends is looked at. Which entries count follows from the sequence of the log
// alone (Ranges). So repeated records, several writers and processes that were taken for dead do no harm.
package order
