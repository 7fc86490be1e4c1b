package audit

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/tiertest"
)

// askew plants a fault into the ball, a quantiser of contributions around a centre: it changes the numbers before the
// ball quantises them.
type askew struct {
	contribution.Ball
	change func(b contribution.Ball, vector, centre []float64)
	after  func(dst []int64)
}

func (q askew) Quantise(g lattice.Grid, dst []int64, v []float64) {
	v = slices.Clone(v)
	if q.change != nil {
		q.change(q.Ball, v[:q.Size], v[q.Size:])
	}
	q.Ball.Quantise(g, dst, v)
	if q.after != nil {
		q.after(dst)
	}
}

// in returns the configuration with the fault planted in the ball of its contribution. It reports whether the
// contribution has a ball.
func (q askew) in(c mechanisms.Config) (mechanisms.Config, bool) {
	ball, centred := c.Contribution.Components[0].Quantiser.(contribution.Ball)
	if centred {
		c.Contribution.Components = slices.Clone(c.Contribution.Components)
		q.Ball = ball
		c.Contribution.Components[0].Quantiser = q
	}
	return c, centred
}

// TestAuditCatchesFaultsOfDiameters plants faults in contributions around a centre, with a window and for life. If only
// the stream has the fault, the tests of the rebuilt noise must find it. If the audited quantiser has the fault, the
// check must find two contributions after one history that are farther apart than claimed. In the short form, sums for
// life have only one fault of each kind.
func TestAuditCatchesFaultsOfDiameters(t *testing.T) {
	half := func(dst []int64) { // contributions of about half the clip become 1.5 times as long, beyond the ball
		for i := range dst {
			dst[i] += dst[i] / 2
		}
	}
	sign := func(_ contribution.Ball, _, centre []float64) {
		for i := range centre {
			centre[i] = -centre[i]
		}
	}
	zero := func(_ contribution.Ball, _, centre []float64) { clear(centre) }
	private := func(b contribution.Ball, vector, centre []float64) { // moves the public centre to the event
		norm := lattice.Norm(vector)
		for i, x := range vector {
			centre[i] = 0.999 * b.Reach * x / math.Max(norm, 1e-9)
		}
	}
	for i, more := range [][]string{
		{"ORIEL_CLIP=1"},
		{"ORIEL_CLIP=1", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8"},
	} {
		fewer := tiertest.Runs(i > 0, false)
		for what, fault := range map[string]askew{
			"a contribution beyond the diameter": {after: half},
			"a centre of the wrong sign":         {change: sign},
			"no centre":                          {change: zero},
			"a centre that the event decides":    {change: private},
		} {
			if fewer && fault.after == nil {
				continue
			}
			a := cocoSubject(t, more...)
			proved := a.Stream
			a.Stream = func(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
				c, _ = fault.in(c)
				return proved(c, p, key)
			}
			refutes(t, what+", in the stream", a, "contributions", ErrNoise)
		}
		for what, fault := range map[string]askew{
			"a contribution beyond the diameter": {after: half},
			"a centre that the event decides":    {change: private},
		} {
			if fewer && fault.change == nil {
				continue
			}
			a := cocoSubject(t, more...)
			centred := false
			if a.Mechanism, centred = fault.in(a.Mechanism); !centred {
				t.Fatalf("%v: contributions have no centre", more)
			}
			refutes(t, what+", in the quantiser", a, "distances", ErrCheck)
		}
	}
}
