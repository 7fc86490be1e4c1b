// Package order fixes the order in which the partitions of a topic are read as one stream.
//
// An order record states a fact: these slots have ended, and the input has reached these ends. A Sequencer appends such
// records to a log of one partition, before any event below the ends is read. Which records count, and in which order
// they put the input, follows only from the sequences of the logs (rule.go). So repeated records, several writers, and
// processes wrongly believed dead are harmless.
package order
