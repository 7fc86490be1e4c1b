package audit_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// memory is H = 2 steps; with it the noise is reset after every 2048 steps.
const memory = 2

// remembers returns a configuration with memory H = 2.
func remembers() mechanisms.Config {
	c := config("blt")
	c.Scope = protection.Decay{Steps: memory}
	return c
}

// TestClaimForLifeIsTight checks that the audit reaches most of the lifetime claim and does not exceed it, from the
// first step on and in the middle of a block. Across a reset an event loses a little less than the claim, so there the
// audit must reach most of the loss in the law of the releases.
func TestClaimForLifeIsTight(t *testing.T) {
	c := remembers()
	for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
		c.Unit = protection.Event{Exchange: adjacency}
		reachesLife(t, c, 1, tiertest.Runs(0.75, 0.9))
		reachesLife(t, c, 57, tiertest.Runs(0.75, 0.9))
	}
	// Runs last for a complete block between resets.
	c.Unit = protection.Event{Exchange: dp.Replace}
	reachesLife(t, c, decay.Period(memory)-2, tiertest.Runs(0.6, 0.9))
}

// reachesLife checks that the canary of a step gives a bound of at least share times the loss in the law of its next 24
// releases, and that the bound does not exceed the claim.
func reachesLife(t *testing.T, c mechanisms.Config, step uint64, share float64) {
	t.Helper()
	k := canary(t, c, step, 24)
	law, stream := newLaw(t, c, mechtest.Plan(t, c), k), mechtest.Open(t, c, [32]byte{9})
	what := fmt.Sprintf("step %d", step)
	report := run(t, player(stream, c, k), law, stream.Guarantee(), runsFor(t, what, law, share, c.Budget.Delta))
	for _, b := range report.Bounds {
		if b.Value > b.Claim {
			t.Errorf("%s: %s by %s: %g, claimed %g", what, b.Currency, b.Statistic, b.Value, b.Claim)
		}
	}
	if best := report.Bounds[0]; best.Value < share*law.Reach() {
		t.Errorf("%s: %.3f of what this canary can show is reached", what, best.Value/law.Reach())
	}
}

// TestClaimOfAUserIsTight exchanges a user's events as close together as allowed: four among any ten steps, for ever.
// The audit must reach the claim and not exceed it. The audit must refute the claim if the calibration accounts for one
// event, not for four.
func TestClaimOfAUserIsTight(t *testing.T) {
	c := remembers()
	c.Scope, c.Unit = protection.Decay{Steps: 8}, protection.User{Exchange: dp.Replace, Separation: 3, Steps: 10}
	k := canary(t, c, 1, 40)
	if k.Count != 4 || k.Spacing != 3 {
		t.Fatalf("a canary of %d events, %d steps apart", k.Count, k.Spacing)
	}
	measured := func(c mechanisms.Config, share float64) (best float64, passed bool) {
		stream, law := mechtest.Open(t, c, [32]byte{9}), newLaw(t, c, mechtest.Plan(t, c), k)
		report := run(t, player(stream, c, k), law, stream.Guarantee(), runsFor(t, "user", law, share, c.Budget.Delta))
		for _, b := range report.Bounds {
			best, passed = max(best, b.Value/b.Claim), passed || b.Value > b.Claim
		}
		return best, passed
	}
	share := tiertest.Runs(0.75, 0.9)
	if best, passed := measured(c, share); best < share || passed {
		t.Errorf("%.3f of the claim is reached, passed: %v", best, passed)
	}
	loud := short(c)
	claim, shown := mechtest.Open(t, loud, [32]byte{9}).Guarantee().Mu, newLaw(t, loud, mechtest.Plan(t, loud), k).Reach()
	if best, passed := measured(loud, claim/shown); !passed {
		t.Errorf("not caught: one event accounted of four, %.3f of the claim", best)
	}
}

// short returns a configuration that accounts for only one of a user's events.
func short(c mechanisms.Config) mechanisms.Config {
	c.Unit = protection.User{Exchange: dp.Replace, Separation: 3, Steps: 1}
	return c
}

// definedSum is the mechanism computed from its definition, in floating point, optionally with a fault.
type definedSum struct {
	mechanisms.Sum
	f           definition.Noise
	calibration mechanisms.Calibration
	sampler     noise.Sampler
	fault       string

	step   uint64
	sums   []float64
	states [][]float64
	drawn  []int64
}

func (d *definedSum) Restore(state []byte) error {
	d.step = binary.LittleEndian.Uint64(state)
	clear(d.sums)
	for _, s := range d.states {
		clear(s)
	}
	return d.Sum.Restore(state)
}

func (d *definedSum) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	d.step++
	d.Sum.Add(dst, v, chain) // the vector does not matter: Add only counts the step
	d.sampler.Fill(d.drawn, chain.Seed(noise.NodeID{Block: d.step}))
	for i, added := range v {
		n, carry := float64(d.drawn[i]), math.Round(d.f.Carry(d.states[i]))
		d.f.Take(d.states[i], n)
		u := lattice.Grid{}.Float64(added) + carry + n
		switch d.fault {
		case "carry skipped":
			u -= carry
		case "contribution added twice":
			u += lattice.Grid{}.Float64(added)
		case "decay applied before the noise":
			u -= (1 - d.f.Decay) * n
		case "w fed back":
			u += math.Sin(n)
		}
		d.sums[i] = d.f.Decay*d.sums[i] + u
		dst[i] = d.sums[i] * d.calibration.Grid.Unit()
		reset := d.step%d.f.Period == 0
		switch {
		case d.fault == "reset that depends on data" && (lattice.Int128{}).Less(added),
			reset && d.fault != "reset skipped" && d.fault != "buffers not zeroed":
			clear(d.states[i])
		case reset && d.fault == "buffers not zeroed":
			for k := range d.states[i] {
				d.states[i][k] = -d.states[i][k]
			}
		}
	}
}

func defined(fault string) fault {
	return func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) mechanisms.Sum {
		d := &definedSum{
			Sum: mechtest.Sum(t, c, p, mechtest.Zero{}), f: definition.NoiseOf(c, p, 0), calibration: p,
			sampler: sampler(t, c, p.Scale), fault: fault,
			sums: make([]float64, c.Dimension()), drawn: make([]int64, c.Dimension()),
		}
		for range c.Dimension() {
			d.states = append(d.states, make([]float64, len(d.f.Poles)))
		}
		return d
	}
}

// TestResidualsDetectFaultsOfDecay checks that the residual tests accept the definition and the shipped mechanism
// across a reset, and reject each planted fault. Because faults of a reset show only in a few steps after it, the test
// looks for them in many coordinates of runs that start shortly before a reset.
func TestResidualsDetectFaultsOfDecay(t *testing.T) {
	c, many := remembers(), remembers()
	many.Contribution = contribution.OneComponent(128, 1)
	const about = 40 // number of steps tested before and after a reset
	last := decay.Period(memory) - about
	steps := int(decay.Period(memory)) + about
	for _, x := range []struct {
		fault       string
		c           mechanisms.Config
		late        uint64
		steps, runs int
		red         bool
	}{
		{"", c, 0, steps, 6, false},
		{"", many, last, 2 * about, tiertest.Runs(100, 400), false},
		{"carry skipped", c, 0, 400, 60, true},
		{"contribution added twice", c, 0, 400, 60, true},
		{"decay applied before the noise", c, 0, 400, 60, true},
		{"reset that depends on data", c, 0, 400, 60, true},
		{"reset skipped", many, last, 2 * about, tiertest.Runs(300, 400), true},
		{"buffers not zeroed", many, last, 2 * about, tiertest.Runs(300, 400), true},
	} {
		found := false
		for _, test := range rebuiltAfter(t, x.c, x.late, x.steps, x.runs, defined(x.fault)) {
			found = found || test.P < 1e-6
		}
		if found != x.red {
			t.Errorf("%q: found a fault: %v", x.fault, found)
		}
	}
	honest := func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) mechanisms.Sum {
		return mechtest.Sum(t, c, p, sampler(t, c, p.Scale))
	}
	for _, test := range rebuilt(t, c, steps, 6, honest) {
		if test.P < 1e-6 {
			t.Errorf("%s: p = %g of the honest mechanism", test.Name, test.P)
		}
	}
}

// TestTheMechanismIsTheDefinition compares the shipped mechanism with the definition at each step, on the same draws,
// up to the rounding of the carry.
func TestTheMechanismIsTheDefinition(t *testing.T) {
	c := remembers()
	p := mechtest.Plan(t, c)
	ours, theirs := mechtest.Open(t, c, [32]byte{7}), open(t, c, p, defined("")(t, c, p))
	for i := range int(decay.Period(memory)) + 60 {
		id, v := noise.Identity{Offset: int64(i)}, []float64{0.3, -0.4}
		ours.Add(id, v)
		theirs.Add(id, v)
		ours.Close()
		theirs.Close()
		for k, y := range ours.Sum(0) {
			if off := (y - theirs.Sum(0)[k]) / p.Grid.Unit(); math.Abs(off) > 8 {
				t.Fatalf("step %d: %g units from the definition", i+1, off)
			}
		}
	}
}

// TestTailDrawsOfADecayingSum checks that draws in the far tail reach the releases of a mechanism with a memory
// unchanged.
func TestTailDrawsOfADecayingSum(t *testing.T) {
	c := remembers()
	p := mechtest.Plan(t, c)
	if _, err := audit.CheckTail(c, p, func(s noise.Sampler) ([]mechanisms.Sum, error) {
		return p.SumsOver(c, s)
	}); err != nil {
		t.Error(err)
	}
}
