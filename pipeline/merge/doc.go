// Package merge reads the partitions of a topic as one log, in the order that an order log fixes.
package merge
