package service_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
)

// TestCrashLosesNothingAndRepeatsNothing kills two processes of one group while events come in, at the worst places and
// at random. It checks guarantee G2 for unchanged input, and G3.
func TestCrashLosesNothingAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	const partitions, chunk, pace = 4, 25, 200 * time.Millisecond
	kills := tiertest.Runs(5, 100)
	f := newFixture(t, partitions, map[string]string{"ORIEL_SESSION_TIMEOUT": servicetest.SessionTimeout.String()})
	f.Must("topics")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	each, killed, sent := 0, make(chan struct{}), make(chan struct{})
	go func() { // events come in during all the kills
		defer close(sent)
		for {
			for p := range int32(partitions) {
				f.Send(p, servicetest.WithBad(each, chunk)...)
			}
			each += chunk
			select {
			case <-f.Ctx().Done():
				return
			case <-killed:
				return
			case <-time.After(pace):
			}
		}
	}()
	start := func(slot int, kill string) *servicetest.Process {
		more := map[string]string{"ORIEL_STATE_DIR": f.Env["ORIEL_STATE_DIR"] + strconv.Itoa(slot)}
		if kill != "" {
			more["TEST_KILL"] = kill
		}
		return f.Start(more, "run")
	}
	// the first process dies while it opens a partition
	slots := [2]*servicetest.Process{start(0, "produced:1"), start(1, "")}
	replace := func(slot int, kill string) {
		_ = slots[slot].Cmd.Process.Signal(syscall.SIGKILL)
		<-slots[slot].Done
		slots[slot] = start(slot, kill)
	}
	places := []string{"produced", "committed", "restored", "fenced", ""}
	// each process restores and fences half of the partitions, so it reaches these places at most twice
	times := []int{4, 4, 2, 2}
	for k := range kills {
		slot := random.IntN(len(slots))
		if place := places[k%len(places)]; place != "" {
			replace(slot, place+":"+strconv.Itoa(1+random.IntN(times[k%len(places)])))
			select { // the process kills itself at the place, once it has joined the group and has work
			case <-slots[slot].Done:
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
		case <-p.Done:
			replace(slot, "")
		default:
		}
	}
	close(killed)
	<-sent
	f.AwaitTaken(2*time.Minute, int64(each), int64(each), int64(each), int64(each))
	for _, p := range slots {
		p.Terminate()
	}
	f.Must("letters", "--once")
	for p := range int32(partitions) {
		f.CheckHistory(p, each)
		f.checkLetters(p, f.Read(f.Topic("dead-letter"), p, false), servicetest.BadOf(each), 1<<20)
	}
}

// TestCrashLosesNoLetterAndWritesNoneTwice kills two `oriel letters` processes of one group at each of their crash
// points, while a service writes the record statuses.
func TestCrashLosesNoLetterAndWritesNoneTwice(t *testing.T) {
	t.Parallel()
	crashLosesNoLetter(t, "partition", 2)
}

// TestCrashLosesNoLetterOfAWholeTopic kills `oriel letters` in the same way for a stream of a whole topic, for which
// one process does all the work.
func TestCrashLosesNoLetterOfAWholeTopic(t *testing.T) {
	tiertest.Slow(t, "TestCrashLosesNoLetterAndWritesNoneTwice")
	t.Parallel()
	crashLosesNoLetter(t, "topic", 1)
}

func crashLosesNoLetter(t *testing.T, stream string, processes int) {
	const partitions, each = 2, 2000
	f := newFixture(t, partitions, map[string]string{
		"ORIEL_STREAM": stream, "ORIEL_SESSION_TIMEOUT": servicetest.SessionTimeout.String(),
	})
	f.Must("topics")
	service := f.Start(nil, "run")
	start := func(kill string) *servicetest.Process {
		return f.Start(map[string]string{"TEST_KILL": kill}, "letters")
	}
	places := []string{"fenced:1", "restored:1", "produced:1", "committed:1", "produced:1", "committed:1"}
	var slots []*servicetest.Process
	for _, place := range places[:processes] {
		slots = append(slots, start(place))
	}
	for k := range places {
		for p := range int32(partitions) {
			f.Send(p, servicetest.WithBad(k*each/len(places), (k+1)*each/len(places)-k*each/len(places))...)
		}
		slot := slots[k%processes]
		select { // the process kills itself, once it has joined the group and has work
		case <-slot.Done:
			t.Logf("killed at %s", places[k])
		case <-time.After(25 * time.Second):
			t.Errorf("not killed at %s", places[k])
		}
		if k+processes < len(places) {
			slots[k%processes] = start(places[k+processes])
		}
	}
	f.AwaitTaken(time.Minute, each, each)
	service.Terminate()
	f.Must("letters", "--once")
	var letters []records.Record
	for p := range int32(partitions) {
		if stream == "partition" || p == 0 {
			letters = append(letters, f.Read(f.Topic("dead-letter"), p, false)...)
		}
	}
	for p := range int32(partitions) {
		of := slices.DeleteFunc(slices.Clone(letters), func(l records.Record) bool {
			return servicetest.LetterHeaders(l)["oriel-partition"] != fmt.Sprint(p)
		})
		f.checkLetters(p, of, servicetest.BadOf(each), 1<<20)
	}
}
