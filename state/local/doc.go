// Package local holds a copy of what the changelog has for the partitions of a process, in Pebble, so that a restart
// reads it instead of the topic. It knows records by their bytes alone: package state seals them.
//
// Guarantee: a partition is always as some whole call left it, after a crash too. What a disk has changed or lost is
// found (state.ErrCorrupt, or files that are set aside), and so are files of another deployment (state.ErrForeign).
//
// What the caller owes:
//  1. Store.Follow AFTER the Kafka transaction that holds the same records is committed, never before: the local
//     copy may lag, it never leads. On state.ErrCorrupt from Load, Store.Replace with what the changelog holds.
//  2. Methods of a Store run at the same time for different partitions only, and Close comes after all of them.
//
// Cost: Follow is one unsynced write of what is given.
package local
