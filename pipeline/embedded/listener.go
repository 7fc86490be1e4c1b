package embedded

import (
	"net"
	"sync"
	"time"
)

// linger is how long the end of a connection is kept from kfake, which treats one wrongly: a member of a group that
// died while its join or sync was unanswered gets no session timeout once the answer fails, and holds partitions, or
// the group, for ever. To a broker that has not noticed yet the answer goes out, and the session of the dead member
// runs and ends, as after a power cut. A minute is longer than any join waits: sessions and rebalances end within
// seconds.
const linger = time.Minute

// listener makes connections whose end shows after linger.
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
	return &conn{Conn: c, closed: make(chan struct{})}, nil
}

type conn struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

// Read reads; the peer's end, however it came, is reported after linger, or when this side closes.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
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
