// Package order fixes the order in which the partitions of a topic are read as one stream.
//
// An order record states a fact: the input has reached these ends. A Sequencer appends such records to a log of one
// partition, before any event below the ends is read. Which entries count follows only from the sequence of the log
// (Ranges). So repeated records, several writers, and processes wrongly believed dead are harmless.
package order
