package contracttest

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
)

// recovery bounds the time in which a group takes over the partitions of killed members. It is the session timeout plus
// a rebalance timeout for a member that never rejoins, and both again for a leader that dies between join and sync.
const recovery = 40 * time.Second

// worker is a process that is a member of a group and has nothing else to do. A test can kill it, which cuts every
// connection and prevents new ones.
type worker struct {
	stop context.CancelFunc
	loop sync.WaitGroup
	slow chan struct{} // the test closes it to let the worker leave a generation that has ended

	network dial

	mu         sync.Mutex
	dead       bool
	conns      []net.Conn
	generation *group.Generation
}

func (e *env) work(config group.Config) *worker {
	e.Helper()
	prompt := make(chan struct{})
	close(prompt)
	return e.slowWork(config, prompt)
}

func (e *env) slowWork(config group.Config, slow chan struct{}) *worker {
	e.Helper()
	w := &worker{slow: slow, network: e.dial}
	group, err := group.Join(e.client(func(config *kafka.Config) { config.Dial = w.dial }), config)
	e.check(err)
	ctx, stop := context.WithCancel(e.ctx)
	w.stop = stop
	w.loop.Go(func() {
		for {
			g, err := group.Next(ctx)
			if err != nil {
				return
			}
			w.hold(g)
			select {
			case <-g.Done():
				select {
				case <-w.slow:
				case <-ctx.Done():
				}
			case <-ctx.Done():
			}
			w.hold(nil)
			g.Close()
		}
	})
	e.Cleanup(func() {
		w.kill()
		if e.bubble { // no goroutine may outlive the bubble, but a killed member still sends heartbeats
			_ = group.Close()
		}
	})
	return w
}

func (w *worker) hold(g *group.Generation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.generation = g
}

// held returns the generation that the worker is in, or nil between two generations.
func (w *worker) held() *group.Generation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.generation
}

func (w *worker) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := w.network(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return nil, errors.Join(errors.New("killed"), c.Close())
	}
	w.conns = append(w.conns, c)
	return c, nil
}

func (w *worker) kill() {
	w.mu.Lock()
	w.dead = true
	for _, c := range w.conns {
		_ = c.Close() // most connections are closed already
	}
	w.mu.Unlock()
	w.stop()
	w.loop.Wait()
}

// held waits until the workers are in one generation and together own all partitions.
func (e *env) held(partitions int, workers ...*worker) {
	e.Helper()
	e.heldWithin(recovery, partitions, workers...)
}

func (e *env) heldWithin(limit time.Duration, partitions int, workers ...*worker) {
	e.Helper()
	end := time.Now().Add(limit)
	for {
		var all []int32
		var ids []int32
		for _, w := range workers {
			w.mu.Lock()
			if w.generation != nil {
				all = append(all, w.generation.Partitions...)
				ids = append(ids, w.generation.Membership().Generation)
			}
			w.mu.Unlock()
		}
		slices.Sort(all)
		if len(ids) == len(workers) && len(slices.Compact(ids)) == 1 && len(all) == partitions &&
			len(slices.Compact(all)) == partitions {
			return
		}
		if time.Now().After(end) {
			e.Fatalf("not within %v: %d of %d workers have partitions %v", limit, len(ids), len(workers), all)
		}
		e.pause(20 * time.Millisecond)
	}
}

func (e *env) pause(d time.Duration) {
	e.Helper()
	select {
	case <-e.ctx.Done():
		e.Fatal(e.ctx.Err())
	case <-time.After(d):
	}
}

// killedWhileJoining kills a member that has joined, while the first member has not yet closed the partitions that it
// gives up. The coordinator's next answers then reach no process. The member must lose its partitions after a session
// timeout.
func killedWhileJoining(e *env) {
	topic := e.topic(4, nil)
	config := group.Config{ID: e.name("group"), Topic: topic}
	slow := make(chan struct{})
	first := e.slowWork(config, slow)
	e.held(4, first)
	doomed := e.work(config)
	e.pause(2 * time.Second) // the second member waits for partitions of the first one
	doomed.kill()
	close(slow)
	second := e.work(config)
	e.held(4, first, second)
}

// killedInTurns replaces the two members of a group repeatedly, at all points of a rebalance, like a crash loop. The
// members alive at the end must soon have all partitions.
func killedInTurns(e *env) {
	topic := e.topic(4, nil)
	config := group.Config{ID: e.name("group"), Topic: topic}
	workers := [2]*worker{e.work(config), e.work(config)}
	e.held(4, workers[:]...)
	for i, wait := range []int{5000, 300, 2500, 100, 1500, 700, 2000, 6000, 5500} {
		slot := i * 5 / 3 % 2
		workers[slot].kill()
		workers[slot] = e.work(config)
		e.pause(time.Duration(wait) * time.Millisecond)
	}
	e.held(4, workers[:]...)
}
