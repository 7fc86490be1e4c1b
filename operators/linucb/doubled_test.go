package linucb

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/optest"
)

// determinants computes the determinants of all arms' shifted sums by elimination.
func determinants(m *Machine, release []float64) []float64 {
	d := m.rows.Features
	var all []float64
	for a := range m.model.arms {
		sums, v := m.rows.Moments(release, a), mat.NewDense(d, d, nil)
		for i := range d {
			for j := range d {
				v.Set(i, j, sums.Gram(i, j))
			}
			v.Set(i, i, v.At(i, i)+m.model.bounds.shift+m.start)
		}
		all = append(all, mat.Det(v))
	}
	return all
}

// TestDoubledDeterminants checks ORIEL_SOLVE=doubled. Weights must change exactly at the decisions at which a
// determinant has doubled since the last change; these must be few. The new weights must equal the weights of a model
// that is solved at every decision. Restoring the machine must change nothing.
func TestDoubledDeterminants(t *testing.T) {
	lines := []string{"PLAYED=logged", "ARMS=a,b", "DIMENSION=3", "EMIT_EVERY=4", "NOISE_SHIFT=0.01"}
	c, mechanism := config(t, optest.Window("blt"), append(lines, "SOLVE=doubled")...)
	each, _ := config(t, optest.Window("blt"), lines...)
	open := func(c operator) *Machine {
		m, err := newMachine(c, mechtest.ZeroStream(t, mechanism))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m, other, solved := open(c), open(c), open(each)
	counted := operators.ByCount(m)
	countedOther := operators.ByCount(other)
	countedSolved := operators.ByCount(solved)
	last, changes, decisions := determinants(m, m.model.release), 0, 0
	before := slices.Clone(m.model.weights)
	for i, e := range drawn(c, 2000, 3) {
		r := operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}}
		if err := other.Restore(m.AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		made, again, always := counted.Add(nil, r), countedOther.Add(nil, r), countedSolved.Add(nil, r)
		if len(made) != len(always) || len(again) != len(made) {
			t.Fatalf("record %d: %d decisions, %d after a restore, %d where all are solved", i, len(made), len(again), len(always))
		}
		if len(made) == 0 {
			continue
		}
		decisions++
		now, growth := determinants(m, m.Stream.Sum(0)), false
		for a, x := range now {
			growth = growth || x >= 2*last[a]
		}
		want := before
		if growth {
			want, last = slices.Clone(always[0].Point), now
			changes++
		}
		if !slices.Equal(made[0].Point, want) || !slices.Equal(again[0].Point, want) {
			t.Fatalf("decision %d, growth %t: %v, %v after a restore, want %v", decisions, growth, made[0].Point,
				again[0].Point, want)
		}
		before = want
	}
	if t.Logf("%d of %d decisions changed weights", changes, decisions); changes < 5 || changes > 60 {
		t.Errorf("%d of %d decisions changed weights", changes, decisions)
	}
	if _, err := optest.Configure(Definition, optest.Life(64), append(lines, "SOLVE=doubled")...); err == nil {
		t.Error("doubled determinants are taken with a memory")
	}
	c.confidence = 0.9
	if text := c.regret(mechanism); !strings.Contains(text, "ORIEL_SOLVE=always") {
		t.Errorf("of regret %q is text", text)
	}
}
