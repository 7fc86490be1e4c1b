// Package records turns records into the batches of Kafka's format 2, and batches back into records.
//
// A Builder makes one batch, and a Pack all batches that a transaction appends to one partition. A Pool is memory that
// packs share. ParseHeader, Unpacker and Cursor take a batch apart again: its header, its decompressed body, one Record
// after the other. There is no I/O here and no clock.
//
// Producers may be hostile. Which records are Unreadable must be a function of the bytes of their batch only, because
// such records become null events. No batch makes the decoder hold more than MaxBatchBytes.
package records
