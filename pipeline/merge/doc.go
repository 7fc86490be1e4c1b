// Package merge reads the partitions of a topic as one log, in the order that an order log fixes.
//
// A Reader follows the order log (follow.go) and hands out the ranges that it adds, one after the other (reader.go).
// Each partition that has ranges ahead has a lane, which fetches ahead of the merge (lane.go). The ranges decide what
// is handed out, and in which order; lanes decide when. Memory for what lanes hold is the Budget of their client: the
// partition whose turn it is always gets on, because lanes whose turn comes later give back what they hold (room.go).
//
// Offsets of the merged log count from 0, where the stream started: offset x of a partition whose turn it is has merged
// offset x + Batch.Shift. Batches end where fetch.Reader ends them and where ranges end, which is public.
package merge
