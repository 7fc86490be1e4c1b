// Package records turns records into the batches of Kafka's format 2, and batches back into records.
//
// A Builder makes one batch, a Pack as many as a transaction appends to one partition, and a Pool is the memory that
// packs share. ParseHeader, Unpacker and Cursor take a batch apart again: its header, its decompressed body, one Record
// after the other. There is no I/O here and no clock.
//
// Producers may be hostile. Which records are Unreadable is a function of the bytes of their batch alone, since such a
// record takes a null place in the decisions; and no batch makes the decoder hold more than MaxBatchBytes.
package records
