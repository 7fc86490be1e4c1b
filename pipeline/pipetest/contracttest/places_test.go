package contracttest

import (
	"sync/atomic"
	"time"

	"oriel/pipeline/kafka/group"
)

// promptly is a time well below the session timeout of a dead member. Within it the other members must continue.
const promptly = 4 * time.Second

// placed returns configurations of one group, each with its own static member id.
func (e *env) placed(topic string, n int) []group.Config {
	groupID := e.name("group")
	configs := make([]group.Config, n)
	for i := range configs {
		configs[i] = group.Config{ID: groupID, Topic: topic, Instance: e.name("place")}
	}
	return configs
}

// placeTakenAgain kills each of two static members, of which one is the leader, and starts it again. The other member
// keeps its generation if the broker allows it, and the group must not wait for the dead member.
func placeTakenAgain(e *env) {
	configs := e.placed(e.topic(4, nil), 2)
	workers := []*worker{e.work(configs[0]), e.work(configs[1])}
	e.held(4, workers...)
	for i := range workers {
		workers[i].kill()
		workers[i] = e.work(configs[i])
		e.heldWithin(promptly, 4, workers...)
	}
	e.pause(7 * time.Second) // the sessions of the dead members end, and no process replaces them
	e.heldWithin(promptly, 4, workers...)
}

// joinerRestarted kills a static member that waits for partitions of another member, and starts it again. The abandoned
// membership must get no partitions.
func joinerRestarted(e *env) {
	configs := e.placed(e.topic(4, nil), 2)
	slow := make(chan struct{})
	first := e.slowWork(configs[0], slow)
	e.held(4, first)
	doomed := e.work(configs[1])
	e.pause(time.Second)
	doomed.kill()
	second := e.work(configs[1])
	e.pause(time.Second)
	close(slow)
	e.heldWithin(promptly, 4, first, second)
}

// allRestarted kills all static members at once, kills them again before they have joined, and starts them again.
func allRestarted(e *env) {
	configs := e.placed(e.topic(4, nil), 3)
	workers := make([]*worker, len(configs))
	start := func() {
		for i, c := range configs {
			workers[i] = e.work(c)
		}
	}
	start()
	e.held(4, workers...)
	for _, wait := range []time.Duration{0, 30 * time.Millisecond, 100 * time.Millisecond} {
		e.pause(wait)
		for _, w := range workers {
			w.kill()
		}
		start()
	}
	e.heldWithin(promptly, 4, workers...)
}

// onePlaceForTwo gives two live processes the same static member id, as two containers with the same host name and
// directory would have. The first process continues without the id, and both get partitions.
func onePlaceForTwo(e *env) {
	config := e.placed(e.topic(4, nil), 1)[0]
	var fenced atomic.Int32
	config.OnFenced = func() { fenced.Add(1) }
	first := e.work(config)
	e.held(4, first)
	second := e.work(config)
	e.heldWithin(recovery/2, 4, first, second)
	if n := fenced.Load(); n != 1 {
		e.Errorf("%d were told that another has their place, want 1", n)
	}
}

// leaverFreesPlace closes two static members: one that waits for a partition, and one that has one. The
// others must not have to wait for their sessions to end.
func leaverFreesPlace(e *env) {
	configs := e.placed(e.topic(2, nil), 3)
	slow := make(chan struct{})
	first := e.slowWork(configs[0], slow)
	e.held(2, first)
	old := first.held()
	joining, err := group.Join(e.client(nil), configs[1])
	e.check(err)
	answer := e.next(joining)
	e.pause(3 * time.Second) // until the first member has learnt that it gives up a partition
	e.check(joining.Close())
	<-answer
	close(slow)
	for first.held() == old {
		e.pause(time.Millisecond)
	}
	e.heldWithin(promptly, 2, first)
	sharing, err := group.Join(e.client(nil), configs[2])
	e.check(err)
	generation, err := sharing.Next(e.ctx)
	e.check(err)
	generation.Close()
	e.check(sharing.Close())
	e.heldWithin(promptly, 2, first)
}
