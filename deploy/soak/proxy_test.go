//go:build soak

package soak

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// disturbance describes how a proxy disturbs some of its connections, and for how long.
type disturbance struct {
	requests bool          // requests are delayed until the end
	answers  bool          // answers are delayed until the end
	late     bool          // delayed frames are delivered at the end; otherwise their connections are reset
	delay    time.Duration // added to each request and each answer
	refuse   bool          // connections are reset, and no new ones are accepted
	half     bool          // every second connection is affected; with refuse, all are
	over     chan struct{}
}

// trap is triggered by one frame: an answer BEFORE it is delivered, a request AFTER the broker has it.
type trap struct {
	api    uint16
	answer bool
	once   sync.Once
	spring func(at *proxy)
}

// proxy stands between one process and one broker. Of the protocol it knows only where a request or an answer ends, and
// its kind.
type proxy struct {
	broker *broker
	addr   string
	trap   *atomic.Pointer[trap] // trap of a process, shared by its proxies

	mu       sync.Mutex
	listener net.Listener
	current  *disturbance
	links    map[*link]struct{}
	accepted int
}

// link is one connection through the proxy.
type link struct {
	client, server net.Conn
	second         bool // affected by a disturbance with half set
	closed         chan struct{}
	once           sync.Once

	mu   sync.Mutex
	apis map[uint32]uint16 // kinds of the requests without an answer so far, by correlation id
}

func (l *link) reset() {
	l.once.Do(func() {
		close(l.closed)
		for _, c := range []net.Conn{l.client, l.server} {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = c.Close()
		}
	})
}

func newProxy(b *broker, addr string, t *atomic.Pointer[trap]) (*proxy, error) {
	p := &proxy{broker: b, addr: addr, trap: t, links: map[*link]struct{}{}}
	return p, p.listen()
}

// listen opens the proxy's port, at the start and again after it has refused connections.
func (p *proxy) listen() error {
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener = listener
	go p.accept(listener)
	return nil
}

func (p *proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go p.open(client)
	}
}

func (p *proxy) open(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.broker.inner[p.addr], 3*time.Second)
	if err != nil {
		_ = client.(*net.TCPConn).SetLinger(0)
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.accepted++
	l := &link{
		client: client, server: server, second: p.accepted%2 == 0, closed: make(chan struct{}),
		apis: map[uint32]uint16{},
	}
	p.links[l] = struct{}{}
	p.mu.Unlock()
	go p.pump(l, client, server, false)
	p.pump(l, server, client, true)
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// pump copies frames from one end of a link to the other.
func (p *proxy) pump(l *link, from, to net.Conn, answers bool) {
	defer l.reset()
	for {
		frame, err := readFrame(from)
		if err != nil || !p.pass(l, answers) {
			return
		}
		api := l.api(frame, answers)
		if answers {
			p.observe(api, true)
		}
		if _, err := to.Write(frame); err != nil {
			return
		}
		if !answers {
			p.observe(api, false)
		}
	}
}

// Kafka's frame is a length u32 and a body. A request's body starts with api key u16, version u16 and correlation id
// u32; an answer's body starts with the correlation id.
const (
	maxFrame    = 128 << 20
	requestHead = 12
	answerHead  = 8
)

var errFrame = errors.New("proxy: not a frame of Kafka's protocol")

func readFrame(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxFrame {
		return nil, errFrame
	}
	frame := make([]byte, 4+n)
	copy(frame, length[:])
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}

// api returns the kind of a request or, for an answer, the kind of its request.
func (l *link) api(frame []byte, answer bool) uint16 {
	be := binary.BigEndian
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case answer && len(frame) >= answerHead:
		id := be.Uint32(frame[4:])
		api := l.apis[id]
		delete(l.apis, id)
		return api
	case !answer && len(frame) >= requestHead:
		api := be.Uint16(frame[4:])
		l.apis[be.Uint32(frame[8:])] = api
		return api
	}
	return 0
}

// observe triggers the trap if it waits for this frame.
func (p *proxy) observe(api uint16, answer bool) {
	if t := p.trap.Load(); t != nil && t.api == api && t.answer == answer {
		t.once.Do(func() { t.spring(p) })
	}
}

// pass delays a frame as long as the disturbance requires, and reports whether to deliver it.
func (p *proxy) pass(l *link, answer bool) bool {
	p.mu.Lock()
	d := p.current
	p.mu.Unlock()
	if d == nil || d.half && !l.second {
		return true
	}
	switch {
	case d.delay > 0:
		timer := time.NewTimer(d.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-d.over:
		case <-l.closed:
			return false
		}
	case answer && d.answers, !answer && d.requests:
		select {
		case <-d.over:
			return d.late
		case <-l.closed:
			return false
		}
	}
	return true
}

// disturb begins a disturbance; heal ends it.
func (p *proxy) disturb(d *disturbance) {
	p.mu.Lock()
	p.current = d
	listener := p.listener
	p.mu.Unlock()
	if d.refuse {
		_ = listener.Close()
		p.reset(false)
	}
}

// heal ends a disturbance. It must be called AFTER over is closed.
func (p *proxy) heal(d *disturbance) error {
	p.mu.Lock()
	p.current = nil
	p.mu.Unlock()
	if d.refuse {
		return p.listen()
	}
	return nil
}

// reset resets the open connections, or every second one.
func (p *proxy) reset(half bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if l.second || !half {
			l.reset()
		}
	}
}

func (p *proxy) close() {
	p.mu.Lock()
	listener := p.listener
	p.mu.Unlock()
	_ = listener.Close()
	p.reset(false)
}

// echo starts a broker that answers every request with its correlation id.
func echo(t *testing.T) (addr string, requests *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	requests = new(atomic.Int32)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for {
					frame, err := readFrame(c)
					if err != nil {
						return
					}
					requests.Add(1)
					_, _ = c.Write(append([]byte{0, 0, 0, 4}, frame[8:12]...))
				}
			}()
		}
	}()
	return listener.Addr().String(), requests
}

// through starts a proxy in front of an echo broker.
func through(t *testing.T) (p *proxy, requests *atomic.Int32) {
	t.Helper()
	target, requests := echo(t)
	at := (&ports{given: map[int]bool{}}).address()
	p, err := newProxy(&broker{inner: map[string]string{at: target}}, at, new(atomic.Pointer[trap]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p, requests
}

type client struct {
	t *testing.T
	net.Conn
}

func (p *proxy) dial(t *testing.T) client {
	t.Helper()
	c, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return client{t, c}
}

func (c client) send(api uint16, id uint32) {
	c.t.Helper()
	b := []byte{0, 0, 0, 8}
	b = binary.BigEndian.AppendUint16(b, api)
	b = binary.BigEndian.AppendUint16(b, 0)
	if _, err := c.Write(binary.BigEndian.AppendUint32(b, id)); err != nil {
		c.t.Fatal(err)
	}
}

// answer returns the correlation id of the next answer.
func (c client) answer(within time.Duration) (uint32, error) {
	_ = c.SetReadDeadline(time.Now().Add(within))
	frame, err := readFrame(c)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(frame[4:]), nil
}

func (c client) wants(id uint32) {
	c.t.Helper()
	if got, err := c.answer(5 * time.Second); err != nil || got != id {
		c.t.Errorf("answer %d, %v, want %d", got, err, id)
	}
}

func (c client) wantsNothing() {
	c.t.Helper()
	if _, err := c.answer(200 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("an answer or %v, want silence", err)
	}
}

func (c client) wantsEnd() {
	c.t.Helper()
	if _, err := c.answer(5 * time.Second); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Errorf("%v, want the connection's end", err)
	}
}

// healed ends a disturbance as the injector does.
func healed(t *testing.T, p *proxy, d *disturbance) {
	t.Helper()
	close(d.over)
	if err := p.heal(d); err != nil {
		t.Fatal(err)
	}
}

func TestSilenceHoldsRequestsAndTheyArriveLate(t *testing.T) {
	p, requests := through(t)
	c := p.dial(t)
	c.send(3, 1)
	c.wants(1)
	d := &disturbance{requests: true, answers: true, late: true, over: make(chan struct{})}
	p.disturb(d)
	c.send(3, 2)
	c.wantsNothing()
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests arrived, want 1", n)
	}
	healed(t, p, d)
	c.wants(2)
}

func TestAnswersAreLostAfterTheirRequestsWereDone(t *testing.T) {
	p, requests := through(t)
	c := p.dial(t)
	d := &disturbance{answers: true, over: make(chan struct{})}
	p.disturb(d)
	c.send(3, 1)
	c.wantsNothing()
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests arrived, want 1", n)
	}
	healed(t, p, d)
	c.wantsEnd()
	after := p.dial(t)
	after.send(3, 2)
	after.wants(2)
}

func TestHalfAffectsEverySecondConnection(t *testing.T) {
	p, _ := through(t)
	first := p.dial(t)
	first.send(3, 1)
	first.wants(1) // the proxy must have accepted this connection first
	second := p.dial(t)
	second.send(3, 2)
	second.wants(2)
	d := &disturbance{requests: true, half: true, late: true, over: make(chan struct{})}
	p.disturb(d)
	first.send(3, 3)
	first.wants(3)
	second.send(3, 4)
	second.wantsNothing()
	healed(t, p, d)
	second.wants(4)
}

func TestRefusedConnectionsAreResetAndLaterAccepted(t *testing.T) {
	p, _ := through(t)
	c := p.dial(t)
	c.send(3, 1)
	c.wants(1)
	d := &disturbance{refuse: true, over: make(chan struct{})}
	p.disturb(d)
	c.wantsEnd()
	if _, err := net.Dial("tcp", p.addr); err == nil {
		t.Error("a connection is accepted")
	}
	healed(t, p, d)
	after := p.dial(t)
	after.send(3, 2)
	after.wants(2)
}

func TestDelayDelaysEachWay(t *testing.T) {
	p, _ := through(t)
	c := p.dial(t)
	d := &disturbance{delay: 100 * time.Millisecond, over: make(chan struct{})}
	p.disturb(d)
	began := time.Now()
	c.send(3, 1)
	c.wants(1)
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("there and back in %v, want 200ms or more", took)
	}
	healed(t, p, d)
}

// TestATrapAtAnAnswerSpringsBeforeItIsDelivered checks that a trap is triggered before its answer is delivered. A
// process that is killed then has not learned the result of its request.
func TestATrapAtAnAnswerSpringsBeforeItIsDelivered(t *testing.T) {
	p, requests := through(t)
	c := p.dial(t)
	p.trap.Store(&trap{api: 0, answer: true, spring: func(*proxy) {
		if requests.Load() != 2 {
			t.Error("sprung before the request was done")
		}
		p.reset(false)
	}})
	c.send(3, 1) // request of another kind
	c.wants(1)
	c.send(0, 2)
	if _, err := c.answer(5 * time.Second); err == nil || errors.Is(err, io.ErrNoProgress) {
		t.Errorf("%v, want that the answer is not delivered", err)
	}
}
