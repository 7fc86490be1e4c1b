package kafka

import "context"

// local is a Reader over bytes in memory, as if they were the answer to a fetch at offset.
func local(offset int64, wire []byte, aborted ...abortedTxn) *Reader {
	c := unconnected(Config{})
	r := c.NewReader("t", 0, offset, ReaderOptions{})
	buf := c.buffers().get(len(wire))
	buf.b = append(buf.b, wire...)
	r.answer = fetchResponse{start: 0, stable: 1 << 40, high: 1 << 40, aborted: aborted, records: buf}
	return r
}

// unconnected is a client that is never asked to connect.
func unconnected(config Config) *Client {
	config.Brokers = []string{"127.0.0.1:1"}
	c, err := New(config)
	if err != nil {
		panic(err)
	}
	return c
}

// plenty is room for any answer.
func plenty(bytes int) *buffer { return new(bufferPool).get(min(bytes, keepBytes)) }

// drain takes Batches until the bytes are used up.
func drain(r *Reader) (records []Record, err error) {
	for r.answer.records != nil || !r.cursor.done() {
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

// held is how much of a budget is handed out.
func held(b *Budget) int {
	bytes, _ := b.Held()
	return bytes
}
