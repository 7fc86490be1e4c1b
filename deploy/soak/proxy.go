//go:build soak

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
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
