package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka"
	"oriel/pipeline/notice"
)

// inside is a service that runs within the test.
type inside struct {
	*fixture
	end  context.CancelFunc
	done chan error

	mu  sync.Mutex
	out bytes.Buffer
}

func (s *inside) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(b)
}

func (s *inside) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// inside starts the service; change replaces parts of its machine.
func (f *fixture) inside(change func(*host)) *inside {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.ctx())
	s := f.insideOf(ctx, run, change)
	s.end = cancel
	f.t.Cleanup(func() {
		cancel()
		if f.t.Failed() {
			f.t.Logf("log: %s", tailOf(s.log()))
		}
	})
	return s
}

// insideOf starts a command, which ends when ctx does.
func (f *fixture) insideOf(ctx context.Context, command func(context.Context, host) error, change func(*host)) *inside {
	s := &inside{fixture: f, done: make(chan error, 1)}
	h := host{stderr: s, listen: net.Listen, client: func(*kafka.Config) {}, model: settings.Settings.Model}
	for name, value := range f.env {
		h.environ = append(h.environ, name+"="+value)
	}
	change(&h)
	go func() { s.done <- command(ctx, h) }()
	return s
}

// says waits for a line in the log.
func (s *inside) says(text string) {
	s.t.Helper()
	s.await(20*time.Second, "a line in the log: "+text, func() bool { return strings.Contains(s.log(), text) })
}

// ready is what /readyz shows.
func (s *inside) ready() string {
	s.t.Helper()
	_, address, _ := strings.Cut(s.log(), "msg=pages address=")
	address, _, _ = strings.Cut(address, " ")
	request, err := http.NewRequestWithContext(s.ctx(), http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(page)
}

// endsWell tells the service to end, and checks that it does, as one that has not failed.
func (s *inside) endsWell() {
	s.t.Helper()
	s.end()
	select {
	case err := <-s.done:
		if err != nil {
			s.t.Errorf("the service ended badly: %v", err)
		}
	case <-time.After(20 * time.Second):
		s.t.Fatal("the service does not end")
	}
}

// TestAFullDiskIsSaidAndFailsNothing: the log and /readyz say that the store waits, and that it goes on; whoever is
// told to end meanwhile has not failed, since the changelog has everything.
func TestAFullDiskIsSaidAndFailsNothing(t *testing.T) {
	t.Parallel()
	memory, full := vfs.NewMem(), new(atomic.Bool)
	disk := errorfs.Wrap(memory, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	space := func(fail bool, free uint64) {
		memory.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: free, TotalBytes: 1 << 40})
		full.Store(fail)
	}
	f := newFixture(t, 1, map[string]string{"ORIEL_DIMENSION": "4096", "ORIEL_COMMIT_INTERVAL": "1ms"})
	f.must("topics")
	s := f.inside(func(h *host) { h.store.FS = disk })
	taken := 0
	take := func() {
		f.send(0, events(taken, 20)...)
		taken += 20
	}
	take()
	f.awaitTaken(time.Minute, int64(taken))

	space(true, 1000)
	f.await(20*time.Second, "the log says that the disk is full", func() bool {
		take()
		return strings.Contains(s.log(), "the disk is full")
	})
	if page := s.ready(); !strings.Contains(page, "disk: the local store waits for room") {
		t.Errorf("/readyz says %q while the store waits", page)
	}
	space(false, 1<<30)
	s.says("the disk has room again")
	f.awaitTaken(time.Minute, int64(taken))
	f.await(20*time.Second, "ready again", func() bool { return s.ready() == "ready\n" })

	space(true, 1000)
	f.await(20*time.Second, "the log says again that the disk is full", func() bool {
		take()
		return strings.Count(s.log(), "the disk is full") > 1
	})
	s.endsWell()
	s.says("the local store is behind the changelog")
	space(false, 1<<30)
	s = f.inside(func(h *host) { h.store.FS = disk })
	take()
	f.awaitTaken(time.Minute, int64(taken))
	s.endsWell()
	s.says("what was computed is committed, the group is left")
	checkHistory(t, f, 0, taken)
}

// cutConn is a connection on which nothing is heard, either way, once cut is closed.
type cutConn struct {
	net.Conn
	cut <-chan struct{}
}

func (c cutConn) Write(b []byte) (int, error) {
	select {
	case <-c.cut:
		return len(b), nil
	default:
		return c.Conn.Write(b)
	}
}

// TestEndingWithoutBrokersClaimsNothing: a service whose brokers go away in the middle of a transaction, and that is
// told to end then, knows neither that it is committed nor that the group has heard.
func TestEndingWithoutBrokersClaimsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.must("topics")
	cut, armed := make(chan struct{}), new(atomic.Bool)
	s := f.inside(func(h *host) {
		h.client = func(c *kafka.Config) {
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				var d net.Dialer
				conn, err := d.DialContext(ctx, network, address)
				return cutConn{conn, cut}, err
			}
		}
		h.heard.Reached = func(_ int32, p notice.Point) {
			if p == notice.PointProduced && armed.CompareAndSwap(true, false) {
				close(cut)
			}
		}
	})
	f.send(0, events(0, 10)...)
	f.awaitTaken(time.Minute, 10)
	armed.Store(true)
	f.send(0, events(10, 10)...)
	<-cut
	s.endsWell()
	for _, text := range []string{"not all that was computed is known to be committed", "the group was not reached"} {
		if !strings.Contains(s.log(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	if strings.Contains(s.log(), "what was computed is committed") {
		t.Error("the log says that all is committed")
	}
	s = f.inside(func(*host) {})
	f.send(0, events(20, 5)...)
	f.awaitTaken(time.Minute, 25)
	s.endsWell()
	s.says("what was computed is committed, the group is left")
	checkHistory(t, f, 0, 25)
}

func TestEndingBeforeTheBrokersAnswerIsNoFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_BROKERS": "127.0.0.1:1"})
	s := f.inside(func(*host) {})
	s.says("still trying")
	s.endsWell()
	s.says("nothing was taken")
}

// countedConn hears of each request before it is sent.
type countedConn struct {
	net.Conn
	sends func()
}

func (c countedConn) Write(b []byte) (int, error) {
	c.sends()
	return c.Conn.Write(b)
}

// TestEndingWhileStartingIsNoFailure: a service or a writer of letters that was told to end while it looked its topics
// and manifests up once exited with code 1, as if a person had to act. Each is told to end at its first request, at its
// second, and so on until it is at work.
func TestEndingWhileStartingIsNoFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.must("topics")
	for name, command := range map[string]struct {
		run    func(context.Context, host) error
		atWork string
	}{
		"run":     {run, "msg=task"},
		"letters": {func(ctx context.Context, h host) error { return writeLetters(ctx, h, false) }, "partitions assigned"},
	} {
		for n, working := int32(1), false; !working; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			var sent atomic.Int32
			s := f.insideOf(ctx, command.run, func(h *host) {
				h.client = func(c *kafka.Config) {
					c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
						var d net.Dialer
						conn, err := d.DialContext(ctx, network, address)
						return countedConn{conn, func() {
							if sent.Add(1) == n {
								cancel()
							}
						}}, err
					}
				}
			})
			if err := <-s.done; err != nil {
				t.Errorf("%s: told to end at request %d: %v", name, n, err)
			}
			working = strings.Contains(s.log(), command.atWork)
		}
	}
}
