package contracttest

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
)

// conn is a connection that a test can cut, or whose received bytes a test can damage.
type conn struct {
	net.Conn
	read  func(b []byte) error // called after each partial read
	write func(b []byte) error // called before each write
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.read != nil {
		err = c.read(b[:n])
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	if c.write != nil {
		if err := c.write(b); err != nil {
			return 0, errors.Join(err, c.Close())
		}
	}
	return c.Conn.Write(b)
}

func (e *env) dialer(wrap func(net.Conn) net.Conn) func(*kafka.Config) {
	return func(config *kafka.Config) {
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := e.dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return wrap(c), nil
		}
	}
}

// damaged flips bits in the records of answers. The reader must fetch again, and must fail with a clear error if the
// damage persists. It must never return a record that was not written.
func damaged(e *env) {
	topic := e.topic(1, nil)
	p := e.producer("")
	pattern := strings.Repeat("0123456789abcdef", 64)
	for range 20 {
		_, err := p.Produce(e.ctx, topic, 0, batch(pattern, pattern))
		e.check(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	var left atomic.Int32
	flipping := e.client(e.dialer(func(c net.Conn) net.Conn {
		return &conn{Conn: c, read: func(b []byte) error {
			// The pattern occurs only in a long part of a Fetch answer.
			if at := strings.Index(string(b), pattern); at >= 0 && left.Add(-1) >= 0 {
				b[at+random.IntN(len(pattern))] ^= 1 << random.IntN(8)
			}
			return nil
		}}
	}))
	for _, times := range []int32{1, 2, 3} {
		left.Store(times)
		records := e.log(flipping, topic, 0, fetch.Options{})
		if len(records) != 40 {
			e.Fatalf("%d records, want 40", len(records))
		}
		for _, r := range records {
			if string(r.Value) != pattern {
				e.Fatalf("record %d was not written like that", r.Offset)
			}
		}
	}
	left.Store(1 << 30)
	_, err := fetch.NewReader(flipping, topic, 0, 0, fetch.Options{}).Fetch(e.ctx)
	e.wantClass("damage without end", err, kafka.Fatal)
	if !errors.Is(err, records.ErrCorrupt) {
		e.Fatalf("damage without end: %v, want ErrCorrupt", err)
	}
	if strings.Contains(err.Error(), "abc") {
		e.Fatal("the error quotes the record")
	}
}

// lostConnections cuts connections before requests and before answers. A producer resends with the same sequence
// number; after ErrBroken its owner takes over and reads the committed records. No record may be lost, repeated or out
// of order.
func lostConnections(e *env) {
	topic, id := e.topic(1, nil), e.name("txn")
	var dice atomic.Uint64
	cut := func([]byte) error {
		// A fixed pseudo-random sequence selects about one read or write in 24.
		if x := dice.Add(1) * 0x9e3779b97f4a7c15; x>>32%24 == 0 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	lossy := e.client(e.dialer(func(c net.Conn) net.Conn { return &conn{Conn: c, read: cut, write: cut} }))
	const transactions = 60
	var p *produce.Producer
	for done := 0; done < transactions; {
		err := func() error {
			var err error
			if p == nil {
				if p, err = produce.New(e.ctx, lossy, id, 20*time.Second); err != nil {
					return err
				}
				done = len(e.log(e.c, topic, 0, fetch.Options{})) / 2
				if done == transactions {
					return nil
				}
			}
			ctx, cancel := context.WithTimeout(e.ctx, 5*time.Second)
			defer cancel()
			if err := p.Begin(ctx, []kafka.TopicPartition{{Topic: topic}}); err != nil {
				return err
			}
			for part := range 2 {
				if _, err := p.Produce(ctx, topic, 0, batch(number(2*done+part))); err != nil {
					return err
				}
			}
			return p.End(ctx, true)
		}()
		if err == nil {
			done++
			continue
		}
		e.check(e.ctx.Err())
		e.wantClass("lossy connection", err, kafka.Unknown)
		p = nil
	}
	var want []string
	for i := range 2 * transactions {
		want = append(want, number(i))
	}
	e.wantLog(topic, want...)
}
