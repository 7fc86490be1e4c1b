package audit_test

import (
	"errors"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
)

// leftover plants noise that survives a reset: the last coordinate's draw from the step before the reset.
type leftover struct {
	mechanisms.Incremental
	period  uint64
	release bool // the fault puts the noise into the release, but not into the increments
	kept    int64
	changed []lattice.Int128
}

func (l *leftover) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	l.Incremental.Add(dst, v, chain)
	l.changed = slices.Clone(l.Incremental.Increments())
	last := len(l.changed) - 1
	switch step := l.Steps(); {
	case step%l.period == 0:
		l.kept = int64(l.changed[last].Lo)
	case step%l.period == 1 && step > 1:
		if l.release {
			dst[last] += float64(l.kept) * 1e-3
		} else {
			l.changed[last] = l.changed[last].AddInt64(l.kept / 1000)
		}
	}
}

func (l *leftover) Increments() []lattice.Int128 { return l.changed }

// TestCheckReset checks that nothing survives a reset of an honest stream. Even a thousandth of a draw that survives
// must be found, in the numbers that a step adds and in the release.
func TestCheckReset(t *testing.T) {
	for _, batch := range []uint64{1, 3} {
		c := remembers()
		c.Batch = batch
		p := mechtest.Plan(t, c)
		open := func(bend func(s mechanisms.Sum) mechanisms.Sum) *mechanisms.Stream {
			sums, err := p.SumsOver(c, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range sums {
				sums[i] = bend(s)
			}
			stream, err := mechanisms.NewStream(c, p, [32]byte{4}, sums...)
			if err != nil {
				t.Fatal(err)
			}
			return stream
		}
		honest := open(func(s mechanisms.Sum) mechanisms.Sum { return s })
		before := honest.AppendState(nil)
		numbers, err := audit.CheckReset(c, p, honest)
		if err != nil || numbers == 0 || !slices.Equal(before, honest.AppendState(nil)) {
			t.Errorf("%d numbers compared: %v", numbers, err)
		}
		for _, release := range []bool{false, true} {
			faulty := open(func(s mechanisms.Sum) mechanisms.Sum {
				return &leftover{
					Incremental: s.(mechanisms.Incremental), period: decay.Period(c.Scope.Span()), release: release,
				}
			})
			if _, err := audit.CheckReset(c, p, faulty); !errors.Is(err, audit.ErrReset) {
				t.Errorf("in the release alone %t: %v", release, err)
			}
		}
	}
}

// TestAtIsAnEmptyStream checks that a stream that At starts at any step has the same noise as a stream at its start,
// until the next reset.
func TestAtIsAnEmptyStream(t *testing.T) {
	c := remembers()
	p := mechtest.Plan(t, c)
	stream := mechtest.Open(t, c, [32]byte{5})
	state, err := audit.At(c, p, stream.AppendState(nil), 77)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Restore(state); err != nil || stream.Step() != 77 {
		t.Fatalf("at step %d: %v", stream.Step(), err)
	}
	if slices.ContainsFunc(stream.Sum(0), func(x float64) bool { return x != 0 }) {
		t.Errorf("a release %v", stream.Sum(0))
	}
	if _, err := audit.At(c, p, nil, 77); err == nil {
		t.Error("a state of nothing")
	}
}
