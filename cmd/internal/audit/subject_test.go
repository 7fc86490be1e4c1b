package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/traffic"
	"oriel/mechanisms/audit"
	"oriel/operators"
	"oriel/operators/convex/catalogue"
	"oriel/operators/loss"
)

// TestCanaryMovesTheSumByItsSensitivity checks that every configuration has a canary that moves a contribution by the
// whole sensitivity. The operators' own tests check that the canary's gradient is longer than the clip after every
// decision.
func TestCanaryMovesTheSumByItsSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, mechanism := range []string{"blt", "tree-laplace"} {
		for _, name := range loss.Names() {
			for _, set := range catalogue.Names() {
				other := []string{"flow", "matching", "vertices", "trees", "spectrahedron", "trace-norm", "forests"}
				if name == "portfolio" && set != "simplex" || slices.Contains(other, set) {
					continue
				}
				pick := map[bool]string{true: "2", false: "0"}[strings.HasPrefix(set, "subsets")]
				blocks := map[bool]string{true: "2:1,3:2"}[strings.HasPrefix(set, "partition")]
				places := map[bool]string{true: "1,0.5"}[set == "ranking"]
				for _, radius := range []string{"0.01", "7"} {
					a := cocoSubject(t, "ORIEL_LOSS="+name, "ORIEL_SET="+set, "ORIEL_RADIUS="+radius, "ORIEL_PICK="+pick,
						"ORIEL_BLOCKS="+blocks, "ORIEL_WORTHS="+places, "ORIEL_MECHANISM="+mechanism, "ORIEL_DIMENSION=5")
					for _, u := range [][]float64{a.Dense(rng), a.Axis(4)} {
						with, without, err := a.Contributions(u)
						if err != nil {
							t.Fatalf("%s on the %s of radius %s: %v", name, set, radius, err)
						}
						want := a.Calibration.Sensitivity(a.Mechanism)
						if d := (audit.Canary{With: with, Without: without}).Distance(); math.Abs(d-want) > 1e-6 || want > 3 {
							t.Errorf("%s on the %s of radius %s: contributions are %g apart, want %g", name, set, radius, d, want)
						}
					}
				}
			}
		}
	}
}

// TestRunsHaveTheirOwnNoise checks that runs of null events differ, although null events have no part in noise, and
// that a run can be repeated.
func TestRunsHaveTheirOwnNoise(t *testing.T) {
	a := cocoSubject(t, "ORIEL_DIMENSION=5")
	p, err := a.Open()
	if err != nil {
		t.Fatal(err)
	}
	var released [3][]float64
	for i, run := range []uint64{1, 2, 1} {
		if err := p.Begin(run); err != nil {
			t.Fatal(err)
		}
		for at := subject.IdentitiesOf(run); p.Stream().Step() < 3; {
			p.Add(operators.Record{Identity: at.Next(), Null: true})
		}
		released[i] = slices.Clone(p.Sum())
	}
	if slices.Equal(released[0], released[1]) || !slices.Equal(released[0], released[2]) {
		t.Errorf("runs 1, 2, 1 of null events release %v", released)
	}
}

// TestContributionsMatchTheMechanism checks that the auditor's own clip and rounding agree with the mechanism's to one
// unit in the last place.
func TestContributionsMatchTheMechanism(t *testing.T) {
	for _, name := range loss.Names() {
		a := cocoSubject(t, "ORIEL_LOSS="+name, "ORIEL_SET=simplex", "ORIEL_DIMENSION=5")
		p, err := a.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Begin(1); err != nil {
			t.Fatal(err)
		}
		c := traffic.New(a, p.Reference)
		c.Begin("contribution", 1)
		numbers, units := make([]float64, a.WholeMechanism.Contribution.Entries()), make([]int64, 5)
		for range 200 {
			r := c.Next()
			adds := p.Reference.Contribution(numbers, r)
			if got := a.Contribution(p.Contribution, p.All, p.Reference, r); got != adds || adds == r.Null {
				t.Fatalf("%s: adds %t, the twin says %t of %+v", name, got, adds, r)
			}
			if !adds {
				continue
			}
			if q := a.Mechanism.Contribution.Components[0].Quantiser; q != nil {
				q.Quantise(a.Calibration.Grid, units, numbers)
			} else {
				a.Calibration.Grid.Quantise(units, numbers)
			}
			for i, q := range units {
				if off := math.Abs(float64(q)*a.Calibration.Grid.Unit() - p.Contribution[i]); off > a.Calibration.Grid.Unit() {
					t.Fatalf("%s: contribution %v, the mechanism's is %v", name, p.Contribution, units)
				}
			}
		}
	}
}
