package service_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/notice"
)

// inside is a service that runs in the test's process.
type inside struct {
	*fixture
	end  context.CancelFunc
	done chan error
	out  servicetest.Output
}

func (s *inside) log() string { return s.out.String() }

// inside starts the service; change replaces parts of its Host.
func (f *fixture) inside(change func(*service.Host)) *inside {
	f.T.Helper()
	ctx, cancel := context.WithCancel(f.Ctx())
	s := f.insideOf(ctx, service.Run, change)
	s.end = cancel
	f.T.Cleanup(func() {
		cancel()
		if f.T.Failed() {
			f.T.Logf("log: %s", servicetest.EndOf(s.log()))
		}
	})
	return s
}

// insideOf starts a command in this process. The command must end when ctx is cancelled.
func (f *fixture) insideOf(
	ctx context.Context, command func(context.Context, service.Host) error, change func(*service.Host),
) *inside {
	s := &inside{fixture: f, done: make(chan error, 1)}
	this := servicetest.Host()
	h := service.Host{Stderr: &s.out, Listen: net.Listen, Client: this.Client, Model: this.Model}
	for name, value := range f.Env {
		h.Environ = append(h.Environ, name+"="+value)
	}
	change(&h)
	go func() { s.done <- command(ctx, h) }()
	return s
}

// says waits until the log has a line with this text.
func (s *inside) says(text string) {
	s.T.Helper()
	s.Await(20*time.Second, "a line in the log: "+text, func() bool { return strings.Contains(s.log(), text) })
}

// ready returns the text of /readyz.
func (s *inside) ready() string {
	s.T.Helper()
	_, address, _ := strings.Cut(s.log(), "msg=pages address=")
	address, _, _ = strings.Cut(address, " ")
	request, err := http.NewRequestWithContext(s.Ctx(), http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		s.T.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.T.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(page)
}

// endsWell stops the service, and checks that it stops without an error.
func (s *inside) endsWell() {
	s.T.Helper()
	s.end()
	select {
	case err := <-s.done:
		if err != nil {
			s.T.Errorf("the service ended badly: %v", err)
		}
	case <-time.After(20 * time.Second):
		s.T.Fatal("the service does not end")
	}
}

// TestAFullDiskIsReportedAndFailsNothing checks that the log and /readyz report that the store waits for a full disk,
// and later that it continues. A service that is stopped while it waits must not fail, because the changelog has
// everything.
func TestAFullDiskIsReportedAndFailsNothing(t *testing.T) {
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
	f.Must("topics")
	s := f.inside(func(h *service.Host) { h.Store.FS = disk })
	taken := 0
	take := func() {
		f.Send(0, servicetest.Events(taken, 20)...)
		taken += 20
	}
	take()
	f.AwaitTaken(time.Minute, int64(taken))

	space(true, 1000)
	f.Await(20*time.Second, "the log says that the disk is full", func() bool {
		take()
		return strings.Contains(s.log(), "the disk is full")
	})
	if page := s.ready(); !strings.Contains(page, "disk: the local store waits for room") {
		t.Errorf("/readyz says %q while the store waits", page)
	}
	space(false, 1<<30)
	s.says("the disk has room again")
	f.AwaitTaken(time.Minute, int64(taken))
	f.Await(20*time.Second, "ready again", func() bool { return s.ready() == "ready\n" })

	space(true, 1000)
	f.Await(20*time.Second, "the log says again that the disk is full", func() bool {
		take()
		return strings.Count(s.log(), "the disk is full") > 1
	})
	s.endsWell()
	s.says("the local store is behind the changelog")
	space(false, 1<<30)
	s = f.inside(func(h *service.Host) { h.Store.FS = disk })
	take()
	f.AwaitTaken(time.Minute, int64(taken))
	s.endsWell()
	s.says("everything computed is committed, and the process has left the group")
	f.CheckHistory(0, taken)
}

// cutConn is a connection that delivers nothing in either direction once cut is closed.
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

// TestEndingWithoutBrokersClaimsNothing cuts a service off its brokers in the middle of a transaction and stops it. The
// log must claim neither that the transaction is committed nor that the group knows that the service left.
func TestEndingWithoutBrokersClaimsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	cut, armed := make(chan struct{}), new(atomic.Bool)
	s := f.inside(func(h *service.Host) {
		h.Client = func(c *kafka.Config) {
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				var d net.Dialer
				conn, err := d.DialContext(ctx, network, address)
				return cutConn{conn, cut}, err
			}
		}
		h.Listener.Reached = func(_ int32, p notice.Point) {
			if p == notice.PointProduced && armed.CompareAndSwap(true, false) {
				close(cut)
			}
		}
	})
	f.Send(0, servicetest.Events(0, 10)...)
	f.AwaitTaken(time.Minute, 10)
	armed.Store(true)
	f.Send(0, servicetest.Events(10, 10)...)
	<-cut
	s.endsWell()
	for _, text := range []string{"not known whether everything computed is committed", "the group was not reached"} {
		if !strings.Contains(s.log(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	if strings.Contains(s.log(), "asked to stop: everything computed is committed") {
		t.Error("the log says that all is committed")
	}
	s = f.inside(func(*service.Host) {})
	f.Send(0, servicetest.Events(20, 5)...)
	f.AwaitTaken(time.Minute, 25)
	s.endsWell()
	s.says("everything computed is committed, and the process has left the group")
	f.CheckHistory(0, 25)
}

func TestEndingBeforeTheBrokersAnswerIsNoFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_BROKERS": "127.0.0.1:1"})
	s := f.inside(func(*service.Host) {})
	s.says("still trying")
	s.endsWell()
	s.says("no event was taken")
}

// countedConn calls a function before each request is sent.
type countedConn struct {
	net.Conn
	sends func()
}

func (c countedConn) Write(b []byte) (int, error) {
	c.sends()
	return c.Conn.Write(b)
}

// TestEndingWhileStartingIsNoFailure stops a command at its first request, at its second, and so on until it is at
// work. It must exit without failure. A service or a writer of dead letters that was stopped while it looked up its
// topics and manifests once exited with code 1, as if an operator had to act.
func TestEndingWhileStartingIsNoFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	for name, command := range map[string]struct {
		run    func(context.Context, service.Host) error
		atWork string
	}{
		"run":     {service.Run, "msg=task"},
		"letters": {func(ctx context.Context, h service.Host) error { return service.WriteLetters(ctx, h, false) }, "partitions assigned"},
	} {
		for n, working := int32(1), false; !working; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			var sent atomic.Int32
			s := f.insideOf(ctx, command.run, func(h *service.Host) {
				h.Client = func(c *kafka.Config) {
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
				t.Errorf("%s: asked to stop at request %d: %v", name, n, err)
			}
			working = strings.Contains(s.log(), command.atWork)
		}
	}
}

// TestEndingWithABacklogLeavesNoGap stops a service while fetches are waiting. Such a service once dropped the rest of
// one fetch and went on to the next. Events were lost, and after a crash the same indices were published again with
// other values.
func TestEndingWithABacklogLeavesNoGap(t *testing.T) {
	t.Parallel()
	total := tiertest.Runs(20_000, 60_000) / tiertest.Fewer
	f := newFixture(t, 2, nil)
	f.Must("topics")
	for p := range int32(2) {
		f.Send(p, servicetest.Events(0, total/2)...)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 6 {
		p := f.Start(nil, "run")
		time.Sleep(time.Duration(200+random.IntN(300)) * time.Millisecond)
		_ = p.Cmd.Process.Signal(syscall.SIGTERM)
		if random.IntN(2) == 0 { // half of the time, kill the service without waiting, as some supervisors do
			time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
			_ = p.Cmd.Process.Kill()
		}
		<-p.Done
	}
	p, q := f.Start(nil, "run"), f.Start(map[string]string{"ORIEL_STATE_DIR": f.Env["ORIEL_STATE_DIR"] + strconv.Itoa(1)},
		"run")
	f.AwaitTaken(2*time.Minute, int64(total/2), int64(total/2))
	p.Terminate()
	q.Terminate()
	for p := range int32(2) {
		f.CheckHistory(p, total/2)
	}
}
