package main

import (
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestCrashLosesNothingAndRepeatsNothing kills two processes of one group while events flow, at the worst places and at
// random: G2 for unchanged input, and G3. TEST_KILLS makes it longer.
func TestCrashLosesNothingAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	const partitions, chunk, pace = 4, 25, 200 * time.Millisecond
	kills := number(t, "TEST_KILLS", 5)
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
		f.checkHistory(p, each)
		f.checkLetters(p, f.read(f.topic("dead-letter"), p, false), badOf(each), 1<<20)
	}
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
		f.checkLetters(p, f.read(f.topic("dead-letter"), p, false), badOf(each), 1<<20)
	}
}
