package mechanisms_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// user returns a user-level configuration: W = 1024, at least 100 steps between a user's events, k = 11.
func user(name string) mechanisms.Config {
	c := config(name, 5)
	c.Scope, c.Unit = protection.Window{Steps: 1024}, separated(100)
	return c
}

// TestUserNoiseIsThatOfAllEventsOfAWindow checks PROOF.md, Theorems 1 to 3: the noise covers k = 11 events, each of
// which moves a contribution by 2Λ under either adjacency.
func TestUserNoiseIsThatOfAllEventsOfAWindow(t *testing.T) {
	squares, total := 0.0, 11.0*11
	for size := 1.0; size <= 1024; size *= 2 {
		squares += 11 * math.Ceil(size/100)
	}
	mu := dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6})
	f := func(name string, want float64) {
		t.Helper()
		c := user(name)
		calibration := mechtest.Plan(t, c)
		if got := calibration.Scale.Float64() * calibration.Grid.Unit(); got < want*(1-1e-15) || got > want*(1+1e-15) {
			t.Errorf("%s: scale %.10g, want %.10g", name, got, want)
		}
		c.Unit = protection.User{Exchange: dp.ZeroOut, Separation: 100}
		if other := mechtest.Plan(t, c); !reflect.DeepEqual(other, calibration) {
			t.Errorf("%s: another calibration under zero-out", name)
		}
	}
	f("tree-gaussian", 2*math.Sqrt(squares)/mu)
	f("tree-gamma", 2*total)
	f("tree-laplace", 2*total*math.Sqrt(5))
}

// TestEventGuaranteeIsOfTheSameCalibration checks that EventGuarantee of a user-level calibration is stronger than its
// Guarantee, and that an event-level calibration is refused at user level.
func TestEventGuaranteeIsOfTheSameCalibration(t *testing.T) {
	for _, name := range []string{"tree-gaussian", "tree-gamma", "tree-laplace", "blt"} {
		for _, adjacency := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
			c := user(name)
			c.Unit = protection.User{Exchange: adjacency, Separation: 100}
			calibration := mechtest.Plan(t, c)
			of, err := calibration.Guarantee(c)
			if err != nil {
				t.Fatal(err)
			}
			g, err := calibration.EventGuarantee(c)
			if err != nil || g.Unit != (protection.Event{Exchange: adjacency}) || g.Scope != c.Scope || g.Delta != of.Delta ||
				!(g.Epsilon < of.Epsilon/2) {
				t.Errorf("%s: %+v, %v, of a user %+v", name, g, err, of)
			}
			c.Unit, c.Budget.Epsilon = protection.Event{Exchange: adjacency}, g.Epsilon*(1+1e-12)
			again, err := calibration.Guarantee(c)
			if err != nil || again.Mu != g.Mu || again.Curve != g.Curve {
				t.Errorf("%s: as a calibration of an event: %+v, %v, want %+v", name, again, err, g)
			}
			c.Budget.Epsilon = g.Epsilon * (1 - 1e-9)
			if _, err := calibration.Guarantee(c); !errors.Is(err, mechanisms.ErrUnproved) {
				t.Errorf("%s: proves less than the event's epsilon: %v", name, err)
			}
			c = user(name)
			c.Unit = separated(93) // k = 12 events a user
			if _, err := calibration.Guarantee(c); !errors.Is(err, mechanisms.ErrUnproved) {
				t.Errorf("%s: one event more in a window: %v, want ErrUnproved", name, err)
			}
			event := config(name, 5)
			event.Scope, event.Unit = protection.Window{Steps: 1024}, protection.Event{Exchange: adjacency}
			if _, err := mechtest.Plan(t, event).Guarantee(user(name)); !errors.Is(err, mechanisms.ErrUnproved) {
				t.Errorf("%s: the calibration of an event for a user: %v, want ErrUnproved", name, err)
			}
			if same, err := calibration.EventGuarantee(event); err != nil || same != g {
				t.Errorf("%s: asked by the configuration of an event: %+v, %v", name, same, err)
			}
		}
	}
}

// TestUserGuaranteeAges checks that the guarantee's losses by age are the noise structure's: for a user, and (only At)
// for an event.
func TestUserGuaranteeAges(t *testing.T) {
	for _, name := range []string{"tree-gaussian", "tree-gamma", "blt"} {
		c := user(name)
		g, err := mechtest.Plan(t, c).Guarantee(c)
		if err != nil {
			t.Fatal(err)
		}
		claim := dp.Budget{Epsilon: 1, Delta: g.Delta}
		if g.At(1024) != claim || g.AtAll(1024) != claim || g.AtSpans(1) != claim {
			t.Errorf("%s: %v and %v at W", name, g.At(1024), g.AtAll(1024))
		}
		for _, m := range []float64{2, 10, 100} {
			x, all := g.At(uint64(m)*1024), g.AtAll(uint64(m)*1024)
			if !(all.Epsilon > x.Epsilon && x.Epsilon > 1) || x != g.AtSpans(uint64(m)) {
				t.Errorf("%s: %v and %v after %g windows", name, x, all, m)
			}
			if name == "tree-gamma" && (x.Epsilon != m || all.Epsilon != m*(m+1)/2) {
				t.Errorf("pure ε after %g windows: %v and %v", m, x, all)
			}
		}
	}
	event := config("tree-gaussian", 5)
	event.Scope = protection.Window{Steps: 1024}
	g, err := mechtest.Plan(t, event).Guarantee(event)
	if err != nil {
		t.Fatal(err)
	}
	// Tolerance for rounded shifts.
	if got, want := g.Curve.Mu(100*1024)/g.Mu, math.Sqrt((10+100*(2-1/1024.0))/11); got < want || got > want*(1+1e-5) {
		t.Errorf("µ(100W) of an event is %g µ(W), want %g", got, want)
	}
}

// TestEqualComponentsHaveEqualNoiseAtUserLevel checks that each component pays for all events of a user: components of
// equal shape and share must have equal noise.
func TestEqualComponentsHaveEqualNoiseAtUserLevel(t *testing.T) {
	for _, scope := range []protection.Scope{protection.Window{Steps: 64}, protection.Decay{Steps: 64}} {
		for _, unit := range []protection.Unit{oneEvent, zeroOut, separated(3)} {
			c := config("blt", 1)
			c.Scope, c.Unit = scope, unit
			if user, is := unit.(protection.User); is && scope == (protection.Decay{Steps: 64}) {
				user.Steps = 100
				c.Unit = user
			}
			c.Contribution = contribution.Contribution{Components: []contribution.Component{
				{Name: "first", Size: 2, Clip: 1, Share: 1}, {Name: "second", Size: 2, Clip: 1, Share: 1},
			}}
			calibration := mechtest.Plan(t, c)
			if first, second := calibration.Component(0), calibration.Component(1); first.Scale != second.Scale ||
				first.Grid != second.Grid {
				t.Errorf("%v, %v: scales %g and %g", scope, unit, first.Scale.Float64(), second.Scale.Float64())
			}
		}
	}
}
