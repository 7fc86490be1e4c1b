package aggregate

import (
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// noiseOf returns the standard deviation of a draw in loss units.
func noiseOf(t *testing.T, m mechanisms.Config) float64 {
	t.Helper()
	p := mechtest.Plan(t, m).Component(0)
	return p.Scale.Float64() * p.Grid.Unit()
}

// TestUsersPayTheDistanceOfContributions checks user-level privacy. The events of one user form a train, and each of
// them changes the sums by the distance of two contributions, under either adjacency. Between cells this distance is √2
// times the longest contribution. Within a cell it is the distance of the cell's contributions. For general vectors it
// would be 2 times the longest contribution.
func TestUsersPayTheDistanceOfContributions(t *testing.T) {
	adjacencies := []dp.Adjacency{dp.Replace, dp.ZeroOut}
	for i, kind := range []struct {
		lines []string
		want  float64 // expected distance as a fraction of 2L
	}{
		{[]string{"CELLS=a=x|y|z"}, 1 / math.Sqrt2},
		{
			[]string{"CELLS=a=x|y|z", "VALUE=v=0:1", "STATISTICS=mean,variance,p50*0.5", "BINS=16", "WEIGHT_MAX=3"},
			1 / math.Sqrt2,
		},
		{[]string{"VALUE=v=0:1", "STATISTICS=mean*3"}, 3 / math.Sqrt(10)},
		{[]string{"CELLS=a=x|y", "VALUE=v=0:1", "STATISTICS=mean*3"}, 3 / math.Sqrt(10)},
	} {
		for _, m := range []mechanisms.Config{total(2), life(16, 2)} {
			for _, adjacency := range tiertest.Runs(adjacencies[i%2:i%2+1], adjacencies) {
				users := protection.User{Exchange: adjacency, Separation: 5}
				if _, decays := m.Scope.Memory(); decays {
					users.Steps = 64
				}
				m.Unit = users
				c, ours := config(t, m, kind.lines...)
				vectors := ours
				vectors.Contribution = contribution.OneComponent(c.spec.hot().Size(), c.spec.hot().Component().Clip)
				if got := noiseOf(t, ours) / noiseOf(t, vectors); math.Abs(got/kind.want-1) > 1e-3 {
					t.Errorf("%v, %v: %g of the noise of vectors, want %g", kind.lines, m.Terms, got, kind.want)
				}
				machine, err := newMachine(c, mechtest.Open(t, ours, [32]byte{4}))
				if err != nil {
					t.Fatal(err)
				}
				counted := operators.ByCount(machine)
				g := machine.Guarantee()
				if g.Unit != users || g.Epsilon > 1 {
					t.Errorf("%v: guarantee %+v", kind.lines, g)
				}
				for _, e := range drawn(&c.spec, 4, 1) {
					for _, d := range counted.Add(nil, operators.Record{Event: e}) {
						if stated, want := d.Extras[0].Numbers[0], noiseOf(t, ours); c.spec.weights.Count == 1 && d.Step == 1 &&
							math.Abs(stated/want-1) > 1e-6 {
							t.Errorf("%v: a count is said to be off by %g, a draw by %g", kind.lines, stated, want)
						}
					}
				}
			}
		}
	}
	m := tumbling(2)
	m.Unit = protection.User{Exchange: dp.ZeroOut, Separation: 5}
	c, m := config(t, m, "CELLS=a=x|y")
	if _, err := mechanisms.Calibrate(m); err == nil {
		t.Errorf("users of single steps are taken: %s", &c.spec)
	}
}
