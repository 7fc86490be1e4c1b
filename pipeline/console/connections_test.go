package console_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/netutil"

	"oriel/pipeline/console"
	"oriel/pipeline/notice"
)

// pipes is a listener for tests in a synctest bubble: each call opens a pipe.
type pipes struct {
	calls  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.calls:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// call connects, and reports whether the server accepted the connection at once.
func (p *pipes) call() (c net.Conn, taken bool) {
	here, there := net.Pipe()
	select {
	case p.calls <- there:
		return here, true
	case <-time.After(time.Millisecond):
		return nil, false
	}
}

// TestConnectionsAreBounded checks the limit on connections, because each connection takes a file descriptor, and
// connections to brokers and the local store need file descriptors too.
func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		server := console.New(notice.Operators).Server(prometheus.NewRegistry())
		go func() { _ = server.Serve(netutil.LimitListener(p, console.Connections)) }()
		first, taken := p.call()
		for n := 1; n < console.Connections; n++ {
			if _, more := p.call(); !taken || !more {
				t.Fatalf("connection %d is refused", n)
			}
		}
		if _, taken = p.call(); taken {
			t.Fatalf("connection %d is taken", console.Connections+1)
		}
		_ = first.Close()
		synctest.Wait()
		if _, taken = p.call(); !taken {
			t.Error("a connection that has ended still counts")
		}
		_ = server.Close()
		synctest.Wait()
	})
}

// TestSlowConnectionsEnd checks that the server ends a connection whose client never sends a request, never finishes a
// request, never reads the answer, or never sends another request.
func TestSlowConnectionsEnd(t *testing.T) {
	const get = "GET /healthz HTTP/1.1\r\nHost: a\r\n"
	for _, c := range []struct {
		name, sent string
		read       bool
		within     time.Duration
	}{
		{"silent", "", true, 5 * time.Second},
		{"half a header", get, true, 5 * time.Second},
		{"half a body", "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc", true, 10 * time.Second},
		{"does not read", get + "\r\n", false, 30 * time.Second},
		{"idle", get + "\r\n", true, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				server := console.New(notice.Operators).Server(prometheus.NewRegistry())
				ended := make(chan time.Duration, 1)
				began := time.Now()
				server.ConnState = func(_ net.Conn, s http.ConnState) {
					if s == http.StateClosed {
						ended <- time.Since(began)
					}
				}
				go func() { _ = server.Serve(p) }()
				conn, _ := p.call()
				if c.read {
					go func() { _, _ = io.Copy(io.Discard, conn) }()
				}
				go func() { _, _ = io.Copy(conn, strings.NewReader(c.sent)) }()
				select {
				case took := <-ended:
					if took < c.within-time.Second || took > c.within+time.Second {
						t.Errorf("it ended after %v, want %v", took, c.within)
					}
				case <-time.After(10 * time.Minute):
					t.Error("it lives on")
				}
				_ = conn.Close()
				_ = server.Close()
				synctest.Wait()
			})
		})
	}
}
