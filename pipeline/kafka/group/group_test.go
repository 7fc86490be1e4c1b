package group_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
	"oriel/pipeline/pipetest/simtest"
)

// closeLimit is leaveTimeout and a margin for a busy machine.
const closeLimit = 8 * time.Second

func join(t *testing.T, addr string) *group.Member {
	t.Helper()
	c := brokertest.Client(t, addr, kafka.Config{})
	g, err := group.Join(c, group.Config{ID: "g", Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// closes checks that Close returns soon, and ends a Next that waits.
func closes(t *testing.T, g *group.Member, wait time.Duration) {
	t.Helper()
	waiting := make(chan error, 1)
	go func() {
		_, err := g.Next(t.Context())
		waiting <- err
	}()
	select {
	case err := <-waiting:
		t.Fatalf("Next did not wait: %v", err)
	case <-time.After(wait):
	}
	start := time.Now()
	_ = g.Close() // the test does not depend on the leave request
	if took := time.Since(start); took > closeLimit {
		t.Errorf("Close took %v", took)
	}
	select {
	case err := <-waiting:
		if !errors.Is(err, kafka.ErrGroupClosed) {
			t.Errorf("Next ended with %v, want %v", err, kafka.ErrGroupClosed)
		}
	case <-time.After(time.Second):
		t.Error("Next goes on after Close")
	}
	if _, err := g.Next(t.Context()); !errors.Is(err, kafka.ErrGroupClosed) {
		t.Errorf("Next after Close: %v, want %v", err, kafka.ErrGroupClosed)
	}
	if err := g.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestCloseDoesNotWaitForOthers closes a member whose join waits for another member, and a member whose Next waits for
// its own generation to be closed.
func TestCloseDoesNotWaitForOthers(t *testing.T) {
	addr := brokertest.Embedded(t, embedded.Options{}).Addr()
	first, second := join(t, addr), join(t, addr)
	c := brokertest.Client(t, addr, kafka.Config{})
	if err := topics.Create(t.Context(), c, "t", 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	held, err := first.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closes(t, second, 500*time.Millisecond)
	closes(t, first, 100*time.Millisecond)
	select {
	case <-held.Done():
	default:
		t.Error("the generation goes on after Close of its group")
	}
}

// TestAKeptTopicIsNotShared checks that members subscribe to the kept topic, but get only partitions of the other
// topic.
func TestAKeptTopicIsNotShared(t *testing.T) {
	c := brokertest.Client(t, brokertest.Embedded(t, embedded.Options{}).Addr(), kafka.Config{})
	for topic, partitions := range map[string]int{"t": 1, "u": 3} {
		if err := topics.Create(t.Context(), c, topic, partitions, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	config := group.Config{ID: "g", Topic: "t", Kept: "u", Mark: "m"}
	g, err := group.Join(c, config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close() }()
	share, err := g.Next(t.Context())
	if err != nil || !slices.Equal(share.Partitions, []int32{0}) {
		t.Fatalf("%+v, %v", share, err)
	}
	if m, err := group.Describe(t.Context(), c, config, 1); err != nil || !m.Stable || len(m.Free)+len(m.Foreign) > 0 {
		t.Errorf("%+v, %v", m, err)
	}
	config.Mark = "another"
	m, err := group.Describe(t.Context(), c, config, 1)
	if err != nil || len(m.Foreign) != 1 || !slices.Equal(m.Foreign[0].Topics, []string{"t", "u"}) {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestCloseDoesNotWaitForTheBroker closes members whose broker is gone, or silent.
func TestCloseDoesNotWaitForTheBroker(t *testing.T) {
	t.Parallel()
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		closes(t, join(t, "127.0.0.1:1"), 300*time.Millisecond)
	})
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		closes(t, join(t, silent(t)), 300*time.Millisecond)
	})
	t.Run("silent after the join", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, closesAfterSilence)
	})
}

func closesAfterSilence(t *testing.T) {
	d, cut := simtest.New(t), make(chan struct{})
	if err := topics.Create(t.Context(), d.Client(), "t", 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	muted, err := kafka.New(kafka.Config{
		Brokers: []string{d.Addr()},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := d.Dial(ctx, network, address)
			return &mute{Conn: conn, cut: cut}, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = muted.Close() })
	g, err := group.Join(muted, group.Config{ID: "g", Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	held, err := g.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	close(cut)
	select { // the member must give its share up after a session without answers
	case <-held.Done():
	case <-time.After(15 * time.Second):
		t.Error("a member that hears nothing keeps its share")
	}
	closes(t, g, 100*time.Millisecond)
}

// mute is a connection that drops its requests once cut is closed.
type mute struct {
	net.Conn
	cut chan struct{}
}

func (m *mute) Write(b []byte) (int, error) {
	select {
	case <-m.cut:
		return len(b), nil
	default:
		return m.Conn.Write(b)
	}
}

// silent returns the address of a broker that accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	var l net.ListenConfig
	listener, err := l.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
	}()
	return listener.Addr().String()
}
