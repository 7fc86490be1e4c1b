// Package merge reads the partitions of a topic as one log, in the order that an order log fixes.
//
// A Reader follows the order log (follow.go) and hands out its ranges, one after the other (reader.go). Each partition
// that has ranges ahead has a lane, which fetches ahead of the merge (lane.go). The ranges determine which records are
// handed out and in which order; lanes only affect the time. The Budget of the client bounds the memory of lanes. The
// partition whose turn it is always makes progress, because lanes whose turn comes later release their memory
// (room.go).
//
// Offsets of the merged log count from 0, where the stream started: offset x of a partition whose turn it is has merged
// offset x + Batch.Shift. Batches end where fetch.Reader ends them and where ranges end, both of which are public.
package merge
