package audit_test

import (
	"errors"
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
)

// reaches checks an honest mechanism. The canary's loss under the law must be at least ofClaim times the claim. The
// audit's bound must reach nine tenths of this loss (three quarters in the short form), and not exceed it.
func reaches(t *testing.T, what string, c mechanisms.Config, step, age uint64, ofClaim float64) {
	t.Helper()
	p, k, stream := mechtest.Plan(t, c), canary(t, c, step, age), mechtest.Open(t, c, [32]byte{16})
	law := newLaw(t, c, p, k)
	share := tiertest.Runs(0.75, 0.9)
	runs := runsFor(t, what, law, share, c.Budget.Delta)
	r := run(t, player(stream, c, k), law, stream.Guarantee(), runs)
	best := r.Bounds[0]
	t.Logf("%s: %s at least %.4f, %.3f of %.4f at this canary, claimed %.4f; %d runs", what, best.Currency, best.Value,
		best.Value/r.Reach, r.Reach, best.Claim, r.Runs)
	if err := r.Err(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if best.Value < share*r.Reach || r.Reach < ofClaim*best.Claim {
		t.Errorf("%s: bound %g, reach %g, claim %g", what, best.Value, r.Reach, best.Claim)
	}
}

func TestAuditReachesTheClaim(t *testing.T) {
	for _, step := range []uint64{1, 2, 11} {
		reaches(t, "blt", config("blt"), step, 8, 0.9)
	}
	reaches(t, "tree-gaussian, first step", config("tree-gaussian"), 1, 8, 0.9)
	reaches(t, "tree-gaussian, later", config("tree-gaussian"), 12, 8, 0.6)
	zero := config("tree-gaussian")
	zero.Unit, zero.Batch = protection.Event{Exchange: dp.ZeroOut}, 3
	reaches(t, "tree-gaussian, zero-out, batches", zero, 1, 8, 0.9)
	reaches(t, "once-gaussian", config("once-gaussian"), 3, 2, 0.9)
	for name, scope := range map[string]protection.Scope{
		"tree-gamma": protection.Window{Steps: 4}, "tree-laplace": protection.Window{Steps: 2},
		"once-gamma": protection.PerStep{}, "once-laplace": protection.PerStep{},
	} {
		c := config(name)
		c.Contribution, c.Budget, c.Scope = contribution.OneComponent(1, c.Clip()), dp.Budget{Epsilon: 2}, scope
		reaches(t, name, c, 1, max(1, scope.Span()), 0.9)
	}
}

// TestAuditOfAnOlderEvent audits an event over two windows of releases. There it loses more than in one window, and the
// claim is larger too.
func TestAuditOfAnOlderEvent(t *testing.T) {
	c := config("blt")
	reaches(t, "blt, two windows", c, 2, 16, 0.9)
	g := mechtest.Open(t, c, [32]byte{}).Guarantee()
	for age, want := range map[uint64]audit.Claim{
		1: {Mu: g.Mu, Epsilon: 20, Delta: 1e-6}, 8: {Mu: g.Mu, Epsilon: 20, Delta: 1e-6},
		16: {Mu: g.Curve.Mu(16), Epsilon: g.At(16).Epsilon, Delta: 1e-6},
	} {
		if got := audit.ClaimAt(g, age); got != want {
			t.Errorf("claim at age %d: %+v, want %+v", age, got, want)
		}
	}
}

// TestAuditOfAUser audits the exchange of all events of one user in a window.
func TestAuditOfAUser(t *testing.T) {
	for _, name := range []string{"blt", "tree-gaussian"} {
		c := config(name)
		c.Unit = protection.User{Exchange: dp.Replace, Separation: 3}
		reaches(t, name+", user level", c, 1, 8, 0.75)
	}
}

// TestAuditCatchesEventNoiseForAUser checks that noise calibrated for one event is caught when all events of a user are
// exchanged.
func TestAuditCatchesEventNoiseForAUser(t *testing.T) {
	c := config("blt")
	event := mechtest.Plan(t, c)
	c.Unit = protection.User{Exchange: dp.Replace, Separation: 3}
	catch(t, "noise of the event level", c, 1, func(
		t *testing.T, c mechanisms.Config, _ mechanisms.Calibration,
	) mechanisms.Sum {
		return mechtest.Sum(t, c, event, sampler(t, c, event.Scale))
	}, audit.ErrClaim)
}

// TestRunsForIsHonest checks at a small ε that the number of runs from RunsFor is enough for the promised bound, and
// not more than needed.
func TestRunsForIsHonest(t *testing.T) {
	c := config("blt")
	c.Budget.Epsilon = 1
	k := canary(t, c, 1, 8)
	law := newLaw(t, c, mechtest.Plan(t, c), k)
	half, _ := law.RunsFor(0.5, 1e-6, alpha)
	most, ok := law.RunsFor(0.9, 1e-6, alpha)
	// The gap between bound and loss is z/√N for some z. A gap of a fifth of its size therefore needs 25 times the
	// runs.
	if ratio := float64(most) / float64(half); !ok || ratio < 24 || ratio > 26 {
		t.Errorf("half of the claim takes %d runs, nine tenths %d", half, most)
	}
	// In a large dimension the largest score of pure noise is so rare that no number of runs shows it.
	c = config("tree-gamma")
	c.Contribution, c.Budget = contribution.OneComponent(64, c.Clip()), dp.Budget{Epsilon: 1}
	k = canary(t, c, 1, 8)
	if runs, ok := newLaw(t, c, mechtest.Plan(t, c), k).RunsFor(0.9, 0, alpha); ok {
		t.Errorf("gamma noise in 64 dimensions: %d runs", runs)
	}
}

func TestAuditRefusesWhatItCannotDo(t *testing.T) {
	c := config("tree-gamma")
	p, k := mechtest.Plan(t, c), canary(t, c, 9, 8)
	f := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	_, err := audit.NewLaw(c, p, k)
	if !errors.Is(err, audit.ErrNowhere) {
		t.Errorf("pure noise behind the first block: %v", err)
	}
	k.Step = 1
	k.Without = k.With
	_, err = audit.NewLaw(c, p, k)
	f("equal contributions", err)
	k.Without = nil
	_, err = audit.NewLaw(c, p, k)
	f("a contribution of another dimension", err)
	for _, at := range [][2]uint64{{0, 1}, {1, 0}, {1 << 20, 1}, {1, math.MaxUint64}, {1 << 16, 1 << 17}} {
		_, err = audit.NewCanary(c, at[0], at[1])
		f("step and age", err)
	}
	c.Scope = protection.Lifetime{Steps: 8, Within: 8}
	_, err = audit.NewCanary(c, 3, 7)
	f("beyond the horizon", err)

	c = config("blt")
	k = canary(t, c, 1, 8)
	law, g := newLaw(t, c, mechtest.Plan(t, c), k), mechtest.Open(t, c, [32]byte{}).Guarantee()
	_, err = audit.New(law, g, 1, alpha)
	f("one run", err)
	_, err = audit.New(law, g, 100, 0)
	f("alpha 0", err)
	g.Mu = 0
	_, err = audit.New(law, g, 100, alpha)
	f("a guarantee of another kind", err)
}

func TestReportNamesTheRefutedBound(t *testing.T) {
	f := func(value float64, want error) {
		t.Helper()
		r := audit.Report{Bounds: []audit.Bound{
			{Value: 1, Claim: 2, Law: 2}, {Value: value, Claim: 2, Law: 1.5}, {Value: 1, Claim: 2, Law: 2},
		}}
		if err := r.Err(); !errors.Is(err, want) {
			t.Errorf("bound %g: %v, want %v", value, err, want)
		}
	}
	f(1.5, nil)
	f(1.6, audit.ErrLaw)
	f(2, audit.ErrLaw)
	f(2.1, audit.ErrClaim)
}

// TestPureNoiseAtALaterStep audits pure noise of a tree at a later step of the first block. Only releases of a single
// node are used, and half of these nodes hold a canary at step 3 of a window of 8. Because other releases would show
// more of the canary, the claim is the limit: no honest mechanism exceeds it.
func TestPureNoiseAtALaterStep(t *testing.T) {
	for _, name := range []string{"tree-gamma", "tree-laplace"} {
		c := config(name)
		p := mechtest.Plan(t, c)
		first := newLaw(t, c, p, canary(t, c, 1, 8))
		k := canary(t, c, 3, 8)
		law := newLaw(t, c, p, k)
		if off := law.Reach() - first.Reach()/2; math.Abs(off) > 1e-9*first.Reach() {
			t.Errorf("%s: reach %g at step 3, %g at step 1", name, law.Reach(), first.Reach())
		}
		stream := mechtest.Open(t, c, [32]byte{9})
		honest := run(t, player(stream, c, k), law, stream.Guarantee(), 3000)
		for _, b := range honest.Bounds {
			if b.Value > b.Claim || b.Law != b.Claim {
				t.Errorf("%s: bound %+v", name, b)
			}
		}
	}
}
