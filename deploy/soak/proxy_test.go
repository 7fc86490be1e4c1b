//go:build soak

package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

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
