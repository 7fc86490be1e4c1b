package simtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/pipeline/kafka"
	"oriel/pipeline/notice"
)

// Member is a process of the service. Its network and its disk belong to the deployment.
type Member struct {
	Name string

	d      *Deployment
	number int
	cancel context.CancelFunc
	done   chan struct{}
	err    error

	mu        sync.Mutex
	disk      *vfs.MemFS
	dead      bool
	wires     []*wire
	listeners []net.Listener
	kills     []*kill
	deaths    []*death
}

// kill is a point of the protocol at which a member dies.
type kill struct {
	point notice.Point
	left  int
}

// death is a request at which a member dies.
type death struct {
	left int
	done bool // the broker does the request, but the answer is lost
}

// Broker returns the address of the deployment's broker.
func (m *Member) Broker() string { return m.d.Addr() }

// NewDisk returns an empty disk that can crash.
func NewDisk() *vfs.MemFS { return vfs.NewCrashableMem() }

// AfterPowerLoss returns the disk as a power cut leaves it: with synced data only.
func AfterPowerLoss(disk *vfs.MemFS) *vfs.MemFS { return disk.CrashClone(vfs.CrashCloneCfg{}) }

// Start runs a process on a disk. run is the service; it must end when ctx does.
func (d *Deployment) Start(name string, disk *vfs.MemFS, run func(ctx context.Context, m *Member) error) *Member {
	ctx, cancel := context.WithCancel(context.Background())
	d.mu.Lock()
	m := &Member{Name: name, d: d, number: len(d.members), cancel: cancel, done: make(chan struct{}), disk: disk}
	d.members = append(d.members, m)
	d.rules = slices.DeleteFunc(d.rules, func(r *rule) bool { return r.Life && r.Kind.Member == name })
	d.mu.Unlock()
	go func() {
		defer close(m.done)
		m.err = run(ctx, m)
	}()
	return m
}

// Network sends the requests of a client of the member through the deployment. The client's pauses have no jitter. Its
// member ids in a group sort by the member's name, so that assignments do not depend on chance.
func (m *Member) Network(c *kafka.Config) {
	c.ClientID = m.Name
	c.Dial = m.dial
	c.Jitter = func(n time.Duration) time.Duration { return n / 2 }
}

func (m *Member) dial(ctx context.Context, _, address string) (net.Conn, error) {
	if !m.Alive() {
		return nil, fmt.Errorf("dial %s: %w", address, errRefused)
	}
	broker, err := m.d.network.Dial(ctx, "", address)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w, client := m.d.newWire(m, broker)
	if m.dead {
		w.hangUp()
	}
	m.wires = append(m.wires, w)
	return client, nil
}

// Listen opens a listener of the member.
func (m *Member) Listen(network, address string) (net.Listener, error) {
	l, err := m.d.network.Listen(network, address)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners = append(m.listeners, l)
	return l, err
}

// Writer returns a writer that passes bytes to w while the member lives.
func (m *Member) Writer(w io.Writer) io.Writer { return written{m, w} }

type written struct {
	by *Member
	io.Writer
}

func (w written) Write(b []byte) (int, error) {
	if !w.by.Alive() {
		return len(b), nil
	}
	return w.Writer.Write(b)
}

// Disk returns the disk for the next process on this machine; after a kill, with the contents at the time of the kill.
func (m *Member) Disk() *vfs.MemFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.disk
}

// KillAt kills the member when one of its partitions reaches a point for the n-th time from now on.
func (m *Member) KillAt(point notice.Point, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kills = append(m.kills, &kill{point, n})
}

// Reached must be called by the listener of the member's service.
func (m *Member) Reached(_ int32, point notice.Point) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kills {
		if k.point == point {
			if k.left--; k.left == 0 {
				m.die()
			}
		}
	}
}

// KillAtRequest kills the member at the n-th request that it sends from now on. With done, the broker does the request
// and the answer is lost; otherwise the broker does not receive it. Requests for API versions do not count (see
// doc.go).
func (m *Member) KillAtRequest(n int, done bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deaths = append(m.deaths, &death{n, done})
}

// counted counts a request, and reports whether the member dies at it.
func (m *Member) counted() (dies, done bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.deaths {
		if d.left--; d.left == 0 {
			dies, done = true, d.done
		}
	}
	return dies, done
}

// Kill ends the process as SIGKILL does: its connections end abruptly, and its disk keeps its contents. Later actions
// of its goroutines have no effect outside. Kill returns once the process has noticed.
func (m *Member) Kill() {
	m.mu.Lock()
	m.die()
	m.mu.Unlock()
	<-m.done
}

func (m *Member) die() {
	if m.dead {
		return
	}
	m.dead = true
	for _, w := range m.wires {
		w.hangUp()
	}
	for _, l := range m.listeners {
		_ = l.Close()
	}
	m.disk = m.disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 2))})
	m.cancel()
}

// Alive reports whether the process has not been killed. The goroutines of a killed process may run on for a moment.
func (m *Member) Alive() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.dead
}

// Stop ends the process as SIGTERM does, and returns its error.
func (m *Member) Stop() error {
	m.cancel()
	return m.Wait()
}

// Wait waits for the end of the process, and returns its error.
func (m *Member) Wait() error {
	<-m.done
	return m.err
}

// Done returns a channel that is closed when the process has ended.
func (m *Member) Done() <-chan struct{} { return m.done }
