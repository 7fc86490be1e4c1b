// Package merge reads the partitions of a topic as one log, in the order that an order log fixes.
//
// A Reader follows the order log (follow.go) and hands out the records of one order record after the other (reader.go),
// by slot, partition and offset (turn.go). Each partition with records ahead has a lane, which fetches ahead of the
// merge (lane.go). The logs determine which records are handed out and in which order; lanes only affect the time. The
// Budget of the client bounds the memory of lanes. The partition whose turn it is always makes progress, because lanes
// whose turn comes later release their memory (room.go).
//
// Offsets of the merged log count from 0, where the stream started: offset x of a partition whose turn it is has merged
// offset x + Batch.Shift. Batches end where fetch.Reader ends them, and where slots and order records end, which is all
// public.
package merge
