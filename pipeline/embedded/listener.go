package embedded

import (
	"net"
	"sync"
	"time"
)

// linger is the time for which the end of a connection is hidden from kfake, because kfake handles one case wrongly. If
// a member of a group dies while its join or sync is unanswered, and the answer fails, the member gets no session
// timeout: it keeps partitions, or blocks the group, for ever. With the end hidden, kfake sends its answer, and the
// session of the dead member starts and times out, as after a power cut. A minute is longer than any join waits:
// sessions and rebalances end within seconds.
const linger = time.Minute

// listener makes connections whose end shows only after linger.
type listener struct{ net.Listener }

func lingering(
	listen func(network, address string) (net.Listener, error),
) func(network, address string) (net.Listener, error) {
	return func(network, address string) (net.Listener, error) {
		l, err := listen(network, address)
		if err != nil {
			return nil, err
		}
		return listener{l}, nil
	}
}

// Accept waits for the next connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, closed: make(chan struct{}), requests: requests{fetches: map[uint32]int16{}}}, nil
}

type conn struct {
	net.Conn
	closed   chan struct{}
	once     sync.Once
	requests requests
}

// Write sends an answer, which kfake writes in one piece.
func (c *conn) Write(answer []byte) (int, error) {
	if version, fetched := c.requests.answered(answer); fetched {
		unmark(answer, version)
	}
	return c.Conn.Write(answer)
}

// Read reads. It reports the end of the peer after linger, or when this side closes.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.requests.read(b[:n])
	if n == 0 && err != nil {
		timer := time.NewTimer(linger)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.closed:
		}
	}
	return n, err
}

// Close closes at once.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
