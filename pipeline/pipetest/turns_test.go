package pipetest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/operators"
	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/replay"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
)

// inTurn opens blind machines whose decisions end with the number of the experiment of their step. Params have the line
// "experiment N after A" for each experiment after the first.
type inTurn struct{ streams.Opener }

func (o inTurn) Open(params []byte) (func([32]byte) (operators.Machine, error), error) {
	open, err := o.Opener.Open(nil)
	if err != nil {
		return nil, err
	}
	steps, err := o.Starts(params)
	return func(key [32]byte) (operators.Machine, error) {
		machine, err := open(key)
		return turning{machine, steps}, err
	}, err
}

var announced = operators.Announced(1)

func (inTurn) Batch() uint64     { return 1 }
func (inTurn) Announced() uint64 { return announced }

func (inTurn) Starts(params []byte) (steps []uint64, err error) {
	steps = []uint64{1}
	for line := range strings.Lines(string(params)) {
		var step, after uint64
		if _, err := fmt.Sscanf(line, "experiment %d after %d\n", &step, &after); err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func (inTurn) Wider(_ []byte, step, announced uint64) (float64, error) {
	return 1 + 1/float64(step-announced), nil
}

func (o inTurn) Next(params []byte, step, announced uint64) ([]byte, error) {
	steps, err := o.Starts(params)
	if err == nil && step <= steps[len(steps)-1] {
		err = errors.New("too early")
	}
	return fmt.Appendf(nil, "experiment %d after %d\n", step, announced), err
}

type turning struct {
	operators.Machine
	steps []uint64
}

func (m turning) Close(dst []operators.Decision) []operators.Decision {
	from := len(dst)
	dst = m.Machine.Close(dst)
	for i := range dst[from:] {
		d, number := &dst[from+i], 0.0
		for _, first := range m.steps {
			if d.Step >= first {
				number++
			}
		}
		d.Point = append(d.Point, number)
	}
	return dst
}

// TestExperimentsStartAfterSentEvents gives a stream its next experiment while a transaction is open that has sent
// decisions. Its first step must be after all records that any process has read, the owner must continue with it, and
// all decisions ever sent must agree, across a stop and a replay from the start.
func TestExperimentsStartAfterSentEvents(t *testing.T) {
	for _, partitions := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			setup := pipetest.NewSetup()
			setup.Model.Learner = inTurn{setup.Model.Learner}
			w := &whole{history: history{t: t, Deployment: simtest.New(t), setup: setup}, sent: make([]int, partitions)}
			if partitions > 1 {
				w.setup = setup.WholeTopic()
			}
			w.check(w.setup.Prepare(t.Context(), w.Client(), partitions))
			write := func(p, n int) {
				w.check(logtest.Send(t.Context(), w.Client(), w.setup.Config.Input, int32(p), make([]records.Record, n)...))
				w.taken += n
			}
			next := func(step uint64) (changelog.AddedExperiment, error) {
				given, err := w.deployment().NextExperiment(t.Context(), inTurn{}, step)
				if len(given) != 1 {
					return changelog.AddedExperiment{}, err
				}
				return given[0], err
			}
			if _, err := next(0); err == nil || !strings.Contains(err.Error(), "not opened yet") {
				t.Errorf("a stream that was not opened: %v", err)
			}
			disk := simtest.NewDisk()
			a := w.Start("a", disk, w.setup.Run)
			write(0, 3)
			time.Sleep(10 * time.Second)
			checkpoint, err := replay.Checkpoint(t.Context(), w.deployment(), 0)
			w.check(err)

			// The commit is delayed until later requests have sent the decisions after it.
			w.Fail(simtest.Fault{
				Kind:   simtest.Kind{Member: "a", API: "EndTxn", Partition: simtest.AnyPartition},
				Effect: simtest.Late(20 * time.Second), Count: -1,
			})
			write(0, 2)
			write(partitions-1, 3)
			time.Sleep(2 * time.Second)
			first := uint64(w.taken) + announced + 1
			_, err = next(first - 1)
			if !errors.Is(err, changelog.ErrReached) || !strings.Contains(err.Error(), fmt.Sprint(first)) {
				t.Errorf("step %d: %v", first-1, err)
			}
			// what may have been read before the announcement are all records, whether or not their steps are committed
			known := uint64(w.taken)
			given := func(number int, step uint64) changelog.AddedExperiment {
				wider, _ := inTurn{}.Wider(nil, step, known)
				return changelog.AddedExperiment{Number: number, Step: step, Announced: known, Wider: wider}
			}
			if added, err := next(0); err != nil || added != given(2, first) {
				t.Fatalf("gave %+v, %v; want %+v", added, err, given(2, first))
			}
			w.Mend()
			if _, err := next(0); !errors.Is(err, changelog.ErrToCome) {
				t.Errorf("cut an experiment short that has not started: %v", err)
			}
			if added, err := next(first + 2); err != nil || added != given(3, first+2) {
				t.Errorf("gave %+v, %v; want %+v", added, err, given(3, first+2))
			}
			if _, err := next(first + 2); err == nil {
				t.Error("gave an experiment that starts with another one")
			}
			write(partitions-1, int(announced)+1)
			time.Sleep(time.Minute)
			w.check(a.Stop())
			a = w.Start("a", disk, w.setup.Run)
			write(0, 3)
			time.Sleep(time.Minute)
			w.check(a.Stop())

			seen := map[uint64]float64{}
			for _, r := range w.read(w.setup.Config.Decisions, true) {
				d, err := decision.Parse(r.Value)
				w.check(err)
				number := d.Point[len(d.Point)-1]
				if before, is := seen[d.Step]; is && before != number {
					t.Errorf("step %d was of experiment %g, and is of %g", d.Step, before, number)
				}
				seen[d.Step] = number
			}
			for step := uint64(1); step <= uint64(w.taken); step++ {
				want := 1.0
				if step >= first {
					want++
				}
				if step >= first+2 {
					want++
				}
				if seen[step] != want {
					t.Errorf("step %d is of experiment %g, want %g", step, seen[step], want)
				}
			}
			compared, err := replay.Check(t.Context(), w.deployment(), 0, checkpoint, func(int) {})
			if err != nil || compared != w.taken-3 {
				t.Errorf("compared %d decisions of %d: %v", compared, w.taken-3, err)
			}
		})
	}
}
