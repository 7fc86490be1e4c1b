package auditor

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/audit"
	"oriel/operators/convex"
	"oriel/operators/loss"
)

// TestCanaryMovesTheSumByItsSensitivity checks that every configuration has a canary that moves a contribution by the
// whole sensitivity. The operators' own tests check that the canary's gradient is longer than the clip after every
// decision.
func TestCanaryMovesTheSumByItsSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, mechanism := range []string{"blt", "tree-laplace"} {
		for _, name := range loss.Names() {
			for _, set := range convex.Names() {
				other := []string{"flow", "matching", "vertices", "trees", "spectrahedron", "trace-norm", "forests"}
				if name == "portfolio" && set != "simplex" || slices.Contains(other, set) {
					continue
				}
				pick := map[bool]string{true: "2", false: "0"}[strings.HasPrefix(set, "subsets")]
				blocks := map[bool]string{true: "2:1,3:2"}[strings.HasPrefix(set, "partition")]
				places := map[bool]string{true: "1,0.5"}[set == "ranking"]
				for _, radius := range []string{"0.01", "7"} {
					a := subject(t, "ORIEL_LOSS="+name, "ORIEL_SET="+set, "ORIEL_RADIUS="+radius, "ORIEL_PICK="+pick,
						"ORIEL_BLOCKS="+blocks, "ORIEL_WORTHS="+places, "ORIEL_MECHANISM="+mechanism, "ORIEL_DIMENSION=5")
					for _, u := range [][]float64{a.dense(rng), a.axis(4)} {
						with, without, err := a.contributions(u)
						if err != nil {
							t.Fatalf("%s on the %s of radius %s: %v", name, set, radius, err)
						}
						want := a.calibration.Sensitivity(a.mechanism)
						if d := (audit.Canary{With: with, Without: without}).Distance(); math.Abs(d-want) > 1e-6 || want > 3 {
							t.Errorf("%s on the %s of radius %s: contributions are %g apart, want %g", name, set, radius, d, want)
						}
					}
				}
			}
		}
	}
}

// TestContributionsMatchTheMechanism checks that the auditor's own clip and rounding agree with the mechanism's to one
// unit in the last place.
func TestContributionsMatchTheMechanism(t *testing.T) {
	for _, name := range loss.Names() {
		a := subject(t, "ORIEL_LOSS="+name, "ORIEL_SET=simplex", "ORIEL_DIMENSION=5")
		p, err := a.open()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.begin(); err != nil {
			t.Fatal(err)
		}
		c := a.newTraffic(p.reference)
		c.begin("contribution", 1)
		numbers, units := make([]float64, a.wholeMechanism.Contribution.Entries()), make([]int64, 5)
		for range 200 {
			r := c.next()
			adds := p.reference.Contribution(numbers, r)
			if got := a.contribution(p.contribution, p.all, p.reference, r); got != adds || adds == r.Null {
				t.Fatalf("%s: adds %t, the twin says %t of %+v", name, got, adds, r)
			}
			if !adds {
				continue
			}
			if q := a.mechanism.Contribution.Components[0].Quantiser; q != nil {
				q.Quantise(a.calibration.Grid, units, numbers)
			} else {
				a.calibration.Grid.Quantise(units, numbers)
			}
			for i, q := range units {
				if off := math.Abs(float64(q)*a.calibration.Grid.Unit() - p.contribution[i]); off > a.calibration.Grid.Unit() {
					t.Fatalf("%s: contribution %v, the mechanism's is %v", name, p.contribution, units)
				}
			}
		}
	}
}
