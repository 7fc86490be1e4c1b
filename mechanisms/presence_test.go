package mechanisms_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// presence returns a user-level configuration with a memory. It protects all events of a user within any 1000 steps;
// they are at least 100 steps apart, so k = 10.
func presence(memory uint64) mechanisms.Config {
	c := withMemory(5, memory)
	c.Unit = protection.User{Exchange: dp.Replace, Separation: 100, Steps: 1000}
	return c
}

// TestUsersWithAMemory checks the claim for a user's events among any W steps, for ever after: ε must rise to the claim
// and stay there. All events of a user within W steps must cost the claim, and events over more steps increasingly
// more. Noise and loss must follow from the sensitivity, under both adjacencies.
func TestUsersWithAMemory(t *testing.T) {
	for _, memory := range []uint64{2, 64, 1024, 65_536} {
		c := presence(memory)
		calibration := mechtest.Plan(t, c)
		g, err := calibration.Guarantee(c)
		if err != nil {
			t.Fatal(err)
		}
		if g.Terms != c.Terms || g.ExchangeSteps() != 1000 || !g.Scope.ForLife() || g.Epsilon != 1 ||
			g.Mu > dp.GaussianMu(c.Budget) || g.Mu < dp.GaussianMu(c.Budget)*(1-1e-12) {
			t.Errorf("H = %d: %+v", memory, g)
		}
		before, ages := dp.Budget{}, []uint64{1, 100, 101, 999, 1000, 1001, 10_000, 100 * memory, 1_000_000 * memory}
		slices.Sort(ages)
		for _, age := range ages {
			one, all := g.At(age), g.AtAll(age)
			if one.Epsilon < before.Epsilon || one.Epsilon > 1 || all.Epsilon < one.Epsilon || age <= 1000 && all != one {
				t.Errorf("H = %d: ε(%d) = %v after %v, of all events %v", memory, age, one, before, all)
			}
			before = one
		}
		if last := g.At(math.MaxUint64).Epsilon; last != 1 || memory > 2 && math.Abs(g.At(1000+10*memory).Epsilon-1) > 5e-4 {
			t.Errorf("H = %d: ε is %g after ten memories, %g for ever", memory, g.At(1000+10*memory).Epsilon, last)
		}
		if all := g.AtAll(1_000_000 * memory).Epsilon; !(all > 20) {
			t.Errorf("H = %d: a user who comes all the time loses %g", memory, all)
		}
		null := c
		null.Unit = protection.User{Exchange: dp.ZeroOut, Separation: 100, Steps: 1000}
		if other := mechtest.Plan(t, null); !reflect.DeepEqual(other, calibration) {
			t.Errorf("H = %d: another calibration under zero-out", memory)
		}
	}
}

// TestCalibrationsOfUsersWithAMemoryProveTheirOwn checks that a calibration is refused for a smaller separation and for
// a longer window. The calibration must prove a smaller loss for one event, and a calibration for events must prove
// nothing for users.
func TestCalibrationsOfUsersWithAMemoryProveTheirOwn(t *testing.T) {
	c := presence(1024)
	calibration := mechtest.Plan(t, c)
	refused := func(what string, change func(*mechanisms.Config)) {
		t.Helper()
		c := c
		change(&c)
		if _, err := calibration.Guarantee(c); !errors.Is(err, mechanisms.ErrUnproved) {
			t.Errorf("%s: %v, want ErrUnproved", what, err)
		}
	}
	refused("one event more", func(c *mechanisms.Config) {
		c.Unit = protection.User{Exchange: dp.Replace, Separation: 100, Steps: 1001}
	})
	refused("events nearer by a step", func(c *mechanisms.Config) {
		c.Unit = protection.User{Exchange: dp.Replace, Separation: 99, Steps: 1000}
	})
	event := withMemory(5, 1024)
	if _, err := mechtest.Plan(t, event).Guarantee(c); !errors.Is(err, mechanisms.ErrUnproved) {
		t.Errorf("the calibration of an event for a user: %v, want ErrUnproved", err)
	}
	g, err := calibration.EventGuarantee(c)
	if err != nil || g.Terms != event.Terms || !(g.Epsilon < 0.5) {
		t.Fatalf("of one event: %+v, %v", g, err)
	}
	if same, err := calibration.Guarantee(event); err != nil || same.Mu != g.Mu {
		t.Errorf("as a calibration of an event: %+v, %v, want µ = %g", same, err, g.Mu)
	}
	several := componentsWithMemory()
	several.Unit = protection.User{Exchange: dp.Replace, Separation: 10, Steps: 95}
	parts := mechtest.Plan(t, several)
	whole, err := parts.Guarantee(several)
	if err != nil {
		t.Fatal(err)
	}
	for _, age := range []uint64{1, 95, 200, 100_000} {
		one, all := whole.At(age), whole.AtAll(age)
		if all.Epsilon < one.Epsilon || age <= 95 && all != one || age == 100_000 && all.Epsilon < 2 {
			t.Errorf("of parts: ε(%d) = %v, of all events %v", age, one, all)
		}
	}
}
