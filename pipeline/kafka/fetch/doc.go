// Package fetch reads one partition in order: committed records, each checked, within a budget of memory.
//
// A Reader asks the leader (ask.go), keeps the answer (answer.go) in reserved memory (delivery.go), decompresses it
// batch by batch (room.go), and hands out Batches (batch.go). The end of a Batch follows only from public facts of
// records. An answer that shows a loss ends the Reader only if repeated answers show it (kafka.Doubt).
package fetch
