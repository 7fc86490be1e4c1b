// Package local holds a copy of the changelog's records for the partitions of a process, in Pebble, so that a restart
// reads it instead of the topic. It treats records as bytes; package state seals them.
//
// Guarantee: the records of a partition are always those after some completed call, even after a crash. Damage by the
// disk is detected (frame.ErrCorrupt, or files are set aside), and so are files of another deployment
// (frame.ErrForeign).
//
// Duties of the caller:
//
//  1. Call Store.Follow AFTER the Kafka transaction with the same records is committed, never before: the local copy
//     may lag behind, but must never be ahead. After frame.ErrCorrupt from Load, call Store.Replace with the
//     changelog's records.
//  2. Methods of a Store may run concurrently only for different partitions, and Close must come after all of them.
//
// Cost: Follow is one unsynced write of its records.
package local
