// Package source provides the events that `oriel eval` runs settings over: the lines of a file, the rows of a
// table, or the records of a topic, whose partitions are streams of their own or one stream.
package source
