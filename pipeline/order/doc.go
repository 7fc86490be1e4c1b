// Package order fixes in which order the partitions of a topic are read as one stream.
//
// An order record states a fact: the input has reached these ends. A Sequencer appends such records to a log of one
// partition, before anybody looks at what lies below the ends. Which entries count follows from the sequence of the log
// alone (Ranges), so that repeats, processes that were taken for dead and several writers do no harm.
package order
