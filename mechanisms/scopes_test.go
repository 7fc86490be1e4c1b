package mechanisms_test

import (
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// TestEachMechanismTakesTheScopesOfItsRow checks that each mechanism accepts exactly the scopes of its row, and users
// only if it has accounting for them. The guarantee must name the accepted scope. An error for another scope must name
// the refused scope and the accepted ones.
func TestEachMechanismTakesTheScopesOfItsRow(t *testing.T) {
	window, life := protection.Window{Steps: 8}, protection.Lifetime{Steps: 8, Within: 8}
	decay, once := protection.Decay{Steps: 8}, protection.PerStep{}
	rows := map[string]struct {
		scopes []protection.Scope
		users  bool
		text   string
	}{
		"tree-gaussian":                 {[]protection.Scope{window, life}, true, "takes window or lifetime"},
		"tree-gamma":                    {[]protection.Scope{window, life}, true, "takes window or lifetime"},
		"tree-laplace":                  {[]protection.Scope{window, life}, true, "takes window or lifetime"},
		"blt":                           {[]protection.Scope{window, life, decay}, true, "takes window or lifetime or decay"},
		"once-gaussian":                 {[]protection.Scope{once}, false, "takes per-step release"},
		"once-gamma":                    {[]protection.Scope{once}, false, "takes per-step release"},
		"once-laplace":                  {[]protection.Scope{once}, false, "takes per-step release"},
		mechanisms.ExponentialMechanism: {[]protection.Scope{life}, false, "takes lifetime"},
	}
	if len(rows) != len(mechanisms.Names())+1 {
		t.Errorf("%d rows, and %d names", len(rows), len(mechanisms.Names()))
	}
	for name, row := range rows {
		for _, s := range []protection.Scope{window, life, decay, once} {
			users := protection.User{Exchange: dp.Replace, Separation: 3}
			if s == decay {
				users.Steps = 8
			}
			for _, unit := range []protection.Unit{oneEvent, users} {
				c := config(name, 3)
				if name == mechanisms.ExponentialMechanism {
					c = drawing(3, 8, mechanisms.Draws{K: 1, Every: 2})
				}
				c.Scope, c.Unit = s, unit
				_, several := unit.EventSeparation()
				taken := false
				for _, of := range row.scopes {
					taken = taken || of == s
				}
				what := name + " under " + s.Name() + " of a " + unit.Name()
				if taken && (!several || row.users) {
					if g, err := mechtest.Plan(t, c).Guarantee(c); err != nil || g.Terms != c.Terms {
						t.Errorf("%s: %+v, %v", what, g, err)
					}
					continue
				}
				_, err := mechanisms.Calibrate(c)
				switch {
				case err == nil:
					t.Errorf("%s is taken", what)
				case !taken && s == once && several:
					if !strings.Contains(err.Error(), "unit user: under per-step release") {
						t.Errorf("%s: %v", what, err)
					}
				case !taken:
					if !strings.Contains(err.Error(), "scope "+s.Name()+" (") || !strings.Contains(err.Error(), name+" "+row.text) {
						t.Errorf("%s: %v", what, err)
					}
				}
				if err != nil && several && !row.users && s != once &&
					!strings.Contains(err.Error(), "unit user: "+name+" has only the unit event") {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
}

// TestCalibrationsAreOfTheirScope checks that a calibration for one scope is refused under a scope that needs other
// noise: a memory instead of a window, or a window of another length. With the same window, a stream with a horizon and
// one without have the same calibration.
func TestCalibrationsAreOfTheirScope(t *testing.T) {
	c := config("blt", 3)
	calibration := mechtest.Plan(t, c)
	c.Scope = protection.Lifetime{Steps: 5, Within: 8}
	if g, err := calibration.Guarantee(c); err != nil || g.Terms != c.Terms {
		t.Errorf("a lifetime within the window of the calibration: %+v, %v", g, err)
	}
	for want, s := range map[string]protection.Scope{
		"calibration has memory 0, configured is 8": protection.Decay{Steps: 8},
		"proves less": protection.Lifetime{Steps: 5, Within: 1024},
	} {
		c.Scope = s
		if _, err := calibration.Guarantee(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
}

// TestWeightIsTheSumOfEqualSteps checks the sum of steps that each add 1: t of them, or under a decay the sum of their
// remaining shares.
func TestWeightIsTheSumOfEqualSteps(t *testing.T) {
	for _, s := range []protection.Scope{
		protection.Window{Steps: 8}, protection.Lifetime{Steps: 8, Within: 8}, protection.PerStep{},
	} {
		if got := mechanisms.Weight(s, 1000); got != 1000 {
			t.Errorf("%+v: %g", s, got)
		}
	}
	for _, memory := range []uint64{2, 64} {
		want := 0.0
		for range 100 {
			want = want*(1-1/float64(memory)) + 1
		}
		if got := mechanisms.Weight(protection.Decay{Steps: memory}, 100); got < want*(1-1e-6) || got > want*(1+1e-6) {
			t.Errorf("H = %d: %g, want %g", memory, got, want)
		}
	}
}
