// Package fetch reads one partition in order: committed records, each checked, within a budget of memory.
//
// A Reader asks the leader (ask.go), keeps the answer (answer.go) in memory that was reserved for it (delivery.go),
// decompresses batch by batch (room.go) and hands out a Batch (batch.go) of what follows. Where a Batch ends follows
// from what is public of records and from nothing else. An answer that shows a loss ends the Reader only when the loss
// was found for a while (kafka.Doubt).
package fetch
