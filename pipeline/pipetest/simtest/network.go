package simtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"oriel/pipeline/kafka"
)

// network connects listeners and callers by pipes, so that a test uses no socket and no real time. Its addresses are
// loopback addresses, assigned in order.
type network struct {
	mu        sync.Mutex
	listeners map[string]*listener
}

// firstPort is the port of the first listener.
const firstPort = 9001

// Listen is like net.Listen, but ignores the requested port.
func (n *network) Listen(string, string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	addr := fmt.Sprintf("127.0.0.1:%d", firstPort+len(n.listeners))
	l := &listener{addr: addr, calls: make(chan net.Conn), closed: make(chan struct{})}
	if n.listeners == nil {
		n.listeners = map[string]*listener{}
	}
	n.listeners[l.addr] = l
	return l, nil
}

var errRefused = errors.New("connection refused")

// Dial connects to a listener, as net.Dialer.DialContext does.
func (n *network) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s: %w", address, errRefused)
	}
	here, there := net.Pipe()
	select {
	case l.calls <- there:
		return here, nil
	case <-l.closed:
		return nil, fmt.Errorf("dial %s: %w", address, errRefused)
	case <-ctx.Done():
		return nil, fmt.Errorf("dial %s: %w", address, ctx.Err())
	}
}

type listener struct {
	addr   string
	calls  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses connections from then on.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns the listener's address.
func (l *listener) Addr() net.Addr { return address(l.addr) }

type address string

// Network returns the network name that broker addresses have.
func (address) Network() string { return "tcp" }

func (a address) String() string { return string(a) }

// Cluster starts a cluster whose answers a test may replace, and returns a client of it. It must be called in a bubble;
// both end in the test's clean-up.
func Cluster(t testing.TB, o ...kfake.Opt) (*kfake.Cluster, *kafka.Client) {
	t.Helper()
	var n network
	t.Cleanup(func() { time.Sleep(settled) })
	cluster, err := kfake.NewCluster(slices.Concat(o, []kfake.Opt{kfake.ListenFn(n.Listen)})...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	c, err := kafka.New(kafka.Config{Brokers: cluster.ListenAddrs(), Dial: n.Dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return cluster, c
}
