package plan

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators/description"
)

// ofComponents is an operator whose contribution has two components, one of them with scales.
type ofComponents struct{ learner }

func (ofComponents) Describe(mechanisms.Config) description.Figures {
	return description.Figures{Draws: true}
}

func partsInput(name string) Input {
	c := mechtest.Config(1)
	c.Name = name
	if strings.HasPrefix(name, "once") {
		c.Scope = protection.PerStep{}
	}
	c.Contribution = contribution.Contribution{Components: []contribution.Component{
		{Name: "small", Size: 2, Clip: 0.125, Scales: []uint32{4, 1}, Share: 3}, {Name: "large", Size: 3, Clip: 8, Share: 1},
	}}
	return Input{Configured: c, Operator: ofComponents{}}
}

// TestFiguresOfComponentsFollowTheirNoise checks that the figures of each component match its noise, and that the
// figures of the row match all coordinates. It runs 20 000 steps of noise alone. The mean square of the noise then has
// a relative standard error below 0.016 (see TestVarianceOfAVector), and 6.11 such errors are below 0.1.
func TestFiguresOfComponentsFollowTheirNoise(t *testing.T) {
	for _, name := range []string{"once-gaussian", "once-gamma"} {
		in := partsInput(name)
		r, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		row := r.Mechanisms[0]
		stream := mechtest.Open(t, in.Configured, [32]byte{9})
		const steps = 20_000
		sums := make([]float64, 2)
		for i := range steps {
			stream.Add(noise.Identity{Offset: int64(i)}, nil)
			stream.Close()
			for k := range sums {
				for _, x := range stream.Sum(k) {
					sums[k] += x * x / steps
				}
			}
		}
		for k, p := range row.Components {
			what := fmt.Sprintf("%s, part %d", name, k)
			near(t, what+", vector", sums[k], p.RMSVector*p.RMSVector, 0.1)
			near(t, what+", coordinate", p.RMSCoordinate*p.RMSCoordinate*float64(p.Size), p.RMSVector*p.RMSVector, 1e-12)
			near(t, what+", Δ", p.Sensitivity, 2*[]float64{0.125, 8}[k], 1e-12)
		}
		near(t, name+", vector", sums[0]+sums[1], row.RMSVector*row.RMSVector, 0.1)
		near(t, name+", coordinate", row.RMSCoordinate*math.Sqrt(5), row.RMSVector, 1e-12)
	}
}

// TestReportOfComponents compares a mechanism of several components with one of a single component and the whole
// budget: the error over the optimum must be equal. The report must not present figures of the first component as
// figures of all components.
func TestReportOfComponents(t *testing.T) {
	for _, name := range []string{"blt", "tree-gaussian", "tree-gamma"} {
		in := partsInput(name)
		r, err := New(in)
		if err != nil {
			t.Fatal(err)
		}
		plain := in
		plain.Configured.Contribution = contribution.OneComponent(5, 1)
		one, err := New(plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.Mechanisms[0].OverOptimum, one.Mechanisms[0].OverOptimum; want.Known() {
			near(t, name+", over the optimum", float64(got), float64(want), 1e-6)
			least := float64(r.Mechanisms[0].RMSCoordinate) / float64(r.Optimum.RMSCoordinate)
			near(t, name+", beside the optimum", least*least, float64(got), 1e-9)
		}
		if len(one.Mechanisms[0].Components) > 0 || one.Setting.Draws != true {
			t.Errorf("%s: one part: %+v", name, one.Mechanisms[0].Components)
		}
		var out strings.Builder
		if err := r.Print(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"a contribution of 2 components\n", "small", "large", "Decisions hold draws"} {
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "clip 0.125") {
				t.Errorf("%s: lacks %q:\n%s", name, want, out.String())
			}
		}
	}
}
