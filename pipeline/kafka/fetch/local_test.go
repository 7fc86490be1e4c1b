package fetch

import (
	"context"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

// local is a Reader over bytes in memory, as if a fetch at offset had returned them.
func local(offset int64, wire []byte, aborted ...abortedTxn) *Reader {
	c := unconnected(kafka.Config{})
	r := NewReader(c, "t", 0, offset, Options{})
	buf := c.Buffers().Get(len(wire))
	buf.B = append(buf.B, wire...)
	r.answer = fetchResponse{start: 0, stable: 1 << 40, high: 1 << 40, aborted: aborted, records: buf}
	return r
}

// unconnected is a client that never connects.
func unconnected(config kafka.Config) *kafka.Client {
	config.Brokers = []string{"127.0.0.1:1"}
	c, err := kafka.New(config)
	if err != nil {
		panic(err)
	}
	return c
}

// plenty is a room function that always has memory.
func plenty(bytes int) *memory.Buffer { return new(memory.Pool).Get(min(bytes, memory.KeepBytes)) }

// drain takes Batches until the bytes are used up.
func drain(r *Reader) (records []records.Record, err error) {
	for r.answer.records != nil || !r.cursor.Done() {
		b := new(Batch)
		err = r.fill(context.Background(), b)
		records = append(records, b.Records...)
		if err != nil {
			r.drop()
			return records, err
		}
	}
	return records, nil
}

// held returns how much of a budget is in use.
func held(b *memory.Budget) int {
	bytes, _ := b.Held()
	return bytes
}
