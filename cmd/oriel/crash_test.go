package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// TestCrashLosesNothingAndRepeatsNothing kills two processes of one group while events flow, at the worst places and at
// random: G2 for unchanged input, and G3.
func TestCrashLosesNothingAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	const partitions, chunk, pace = 4, 25, 200 * time.Millisecond
	kills := tiertest.Runs(5, 100)
	f := newFixture(t, partitions, nil)
	f.must("topics")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	each, killed, sent := 0, make(chan struct{}), make(chan struct{})
	go func() { // events flow during all the kills
		defer close(sent)
		for {
			for p := range int32(partitions) {
				f.send(p, withBad(each, chunk)...)
			}
			each += chunk
			select {
			case <-f.ctx().Done():
				return
			case <-killed:
				return
			case <-time.After(pace):
			}
		}
	}()
	start := func(slot int, kill string) *process {
		more := map[string]string{"ORIEL_STATE_DIR": f.env["ORIEL_STATE_DIR"] + strconv.Itoa(slot)}
		if kill != "" {
			more["TEST_KILL"] = kill
		}
		return f.start(more, "run")
	}
	slots := [2]*process{start(0, "produced:1"), start(1, "")} // the first one dies while it opens a partition
	replace := func(slot int, kill string) {
		_ = slots[slot].cmd.Process.Signal(syscall.SIGKILL)
		<-slots[slot].done
		slots[slot] = start(slot, kill)
	}
	places := []string{"produced", "committed", "restored", "fenced", ""}
	for k := range kills {
		slot := random.IntN(len(slots))
		if place := places[k%len(places)]; place != "" {
			replace(slot, place+":"+strconv.Itoa(1+random.IntN(4)))
			select { // it kills itself there, once it has joined and has work
			case <-slots[slot].done:
				t.Logf("killed at %s", place)
			case <-time.After(15 * time.Second):
				t.Logf("killed before %s", place)
			}
		} else {
			time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
		}
		replace(slot, "")
	}
	for slot, p := range slots {
		select {
		case <-p.done:
			replace(slot, "")
		default:
		}
	}
	close(killed)
	<-sent
	f.awaitTaken(2*time.Minute, int64(each), int64(each), int64(each), int64(each))
	for _, p := range slots {
		p.terminate()
	}
	f.must("letters", "--once")
	for p := range int32(partitions) {
		checkHistory(t, f, p, each)
		checkLetters(f, p, f.read(f.topic("dead-letter"), p, false), badOf(each), 1<<20)
	}
}

// withBad are events, and a bad record in each ten.
func withBad(from, n int) []kafka.Record {
	all := events(from, n)
	for i := range all {
		if bad, ok := badAt(from + i); ok {
			all[i] = bad
		}
	}
	return all
}

func badAt(i int) (kafka.Record, bool) {
	return kafka.Record{Key: []byte("k"), Value: fmt.Appendf(nil, "bad %d", i)}, i%10 == 7
}

// badOf are the bad ones of the first n.
func badOf(n int) map[int64]kafka.Record {
	bad := map[int64]kafka.Record{}
	for i := range n {
		if r, ok := badAt(i); ok {
			bad[int64(i)] = r
		}
	}
	return bad
}

// TestCrashLosesNoLetterAndWritesNoneTwice kills two processes of the letters' group at each of their points while a
// service writes verdicts.
func TestCrashLosesNoLetterAndWritesNoneTwice(t *testing.T) {
	t.Parallel()
	const partitions, each = 2, 2000
	f := newFixture(t, partitions, nil)
	f.must("topics")
	service := f.start(nil, "run")
	start := func(kill string) *process { return f.start(map[string]string{"TEST_KILL": kill}, "letters") }
	places := []string{"fenced:1", "restored:1", "produced:1", "committed:1", "produced:1", "committed:1"}
	slots := [2]*process{start(places[0]), start(places[1])}
	for k := range places {
		for p := range int32(partitions) {
			f.send(p, withBad(k*each/len(places), (k+1)*each/len(places)-k*each/len(places))...)
		}
		slot := slots[k%2]
		select { // it kills itself, once it has joined and has work
		case <-slot.done:
			t.Logf("killed at %s", places[k])
		case <-time.After(25 * time.Second):
			t.Errorf("not killed at %s", places[k])
		}
		if k+2 < len(places) {
			slots[k%2] = start(places[k+2])
		}
	}
	f.awaitTaken(time.Minute, each, each)
	service.terminate()
	f.must("letters", "--once")
	for p := range int32(partitions) {
		checkLetters(f, p, f.read(f.topic("dead-letter"), p, false), badOf(each), 1<<20)
	}
}

// checkHistory reads a partition's decisions: uncommitted ones never show two values for one index, committed ones are
// exactly 1, 2, …, steps, in order.
func checkHistory(t *testing.T, f *fixture, p int32, steps int) {
	t.Helper()
	type identity struct {
		incarnation [16]byte
		index       uint64
	}
	values := map[identity][]byte{}
	aborted := 0
	for _, r := range f.read(f.topic("decisions"), p, true) {
		d, err := schemas.ParseDecision(r.Value)
		if err != nil {
			t.Fatalf("partition %d offset %d: %v", p, r.Offset, err)
		}
		id := identity{d.Incarnation, d.Index}
		if earlier, seen := values[id]; seen {
			aborted++
			if !bytes.Equal(earlier, r.Value) {
				t.Errorf("partition %d index %d: two values", p, d.Index)
			}
		}
		values[id] = r.Value
	}
	committed := f.read(f.topic("decisions"), p, false)
	t.Logf("partition %d: %d decisions committed, %d seen again in other transactions", p, len(committed), aborted)
	if len(committed) != steps {
		t.Errorf("partition %d: %d decisions committed, want %d", p, len(committed), steps)
	}
	for i, r := range committed {
		if d, err := schemas.ParseDecision(r.Value); err != nil || d.Index != uint64(i+1) || d.Step != uint64(i+1) ||
			string(r.Key) != strconv.Itoa(int(p)) {
			t.Fatalf("partition %d: place %d holds index %d", p, i, d.Index)
		}
	}
}
