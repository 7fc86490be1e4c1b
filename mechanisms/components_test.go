package mechanisms_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
)

// three returns a contribution of three components with unequal shares, and the vector of a record for it.
func three() (contribution.Contribution, []float64) {
	m := moments{d: 2, r: 1 << 12}
	return contribution.Contribution{Components: []contribution.Component{
		{Name: "gradient", Size: 3, Clip: 0.875, Share: 5},
		{Name: "cells", Size: 4, Clip: 1, Quantiser: mechtest.OneHot{}, Share: 2},
		{Name: "moments", Size: m.size(), Clip: 1, Quantiser: m, Scales: m.scales(), Share: 3},
	}}, []float64{0.5, -0.25, 0.125, 2, 0.75, -0.5}
}

// withComponents returns a configuration of three components, and the vector of a record.
func withComponents(name string) (mechanisms.Config, []float64) {
	c := config(name, 1)
	described, v := three()
	c.Contribution = described
	return c, v
}

// TestComponentsProveTheirSharesTogether checks that the integers of all components together prove the guarantee. A
// calibration of only one component must prove the component's share. At each age the squares (µ) or the sums (ε) of
// these losses use nearly all of the budget, and no more.
func TestComponentsProveTheirSharesTogether(t *testing.T) {
	for _, name := range mechanisms.Names() {
		for _, unit := range []protection.Unit{oneEvent, separated(3)} {
			c, _ := withComponents(name)
			facts, _ := mechanisms.FactsOf(name)
			_, several := unit.EventSeparation()
			if c.Unit = unit; facts.EachStep() && several {
				continue
			}
			calibration := mechtest.Plan(t, c)
			whole, err := calibration.Guarantee(c)
			if err != nil {
				t.Fatal(err)
			}
			ages := []uint64{1, 8, 17, 800}
			losses, all, sum := make([]float64, len(ages)), make([]float64, len(ages)), 0.0
			for i, part := range calibration.Components {
				alone := c
				alone.Contribution = contribution.Contribution{Components: []contribution.Component{c.Contribution.Components[i]}}
				single := mechanisms.Calibration{
					Name: calibration.Name, Levels: calibration.Levels, Filter: calibration.Filter, Grid: part.Grid, Scale: part.Scale,
					ErrorBound: part.ErrorBound,
				}
				if i > 0 {
					single.Components = []mechanisms.ComponentCalibration{part}
				}
				alone.Budget = dp.Budget{Epsilon: 700, Delta: c.Budget.Delta} // one component needs only a part of ε
				g, err := single.Guarantee(alone)
				if err != nil {
					t.Fatal(err)
				}
				own := g.Mu * g.Mu
				if facts.Pure() {
					own = mechanisms.Loss(single, alone)
				}
				share := float64(part.Share) / 10
				if budget := whole.Mu * whole.Mu; !facts.Pure() && math.Abs(own-share*budget) > 1e-9*budget {
					t.Errorf("%s: part %d has %g of %g, want a share of %g", name, i, own, budget, share)
				}
				sum += own
				for k, age := range ages {
					if g.Curve != nil {
						losses[k] += g.Curve.Mu(age) * g.Curve.Mu(age)
						if user, ok := g.Curve.(dp.UserCurve); ok && several {
							all[k] += user.MuAll(age) * user.MuAll(age)
						}
					}
				}
			}
			if facts.Pure() {
				if sum > c.Budget.Epsilon || sum < c.Budget.Epsilon*(1-1e-9) || whole.Epsilon != c.Budget.Epsilon {
					t.Errorf("%s: parts lose %.17g of %g", name, sum, c.Budget.Epsilon)
				}
				continue
			}
			if dp.GaussianDelta(c.Budget.Epsilon, whole.Mu) > c.Budget.Delta || math.Abs(sum-whole.Mu*whole.Mu) > 1e-12*sum {
				t.Errorf("%s: parts have Σµ² = %g, claimed µ = %g", name, sum, whole.Mu)
			}
			if again, _ := calibration.Guarantee(c); again != whole {
				t.Errorf("%s: equal guarantees are not equal", name)
			}
			for k, age := range ages {
				if whole.Curve == nil {
					continue
				}
				if mu := whole.Curve.Mu(age); mu*mu < losses[k]*(1-1e-15) || mu*mu > losses[k]*(1+1e-12) {
					t.Errorf("%s: µ(%d) = %g, want √%g", name, age, mu, losses[k])
				}
				if !several {
					continue
				}
				if mu := whole.Curve.(dp.UserCurve).MuAll(age); mu*mu < all[k]*(1-1e-15) || mu*mu > all[k]*(1+1e-12) {
					t.Errorf("%s: µ of all events at %d is %g, want √%g", name, age, mu, all[k])
				}
			}
		}
	}
}

// TestFaultsInComponentsAreNotProved plants faults in a calibration of components: less noise in one of them, shares
// that sum to more than one, components of another shape.
func TestFaultsInComponentsAreNotProved(t *testing.T) {
	for _, name := range mechanisms.Names() {
		c, _ := withComponents(name)
		calibration := mechtest.Plan(t, c)
		f := func(what string, proved bool, change func(p *mechanisms.Calibration)) {
			t.Helper()
			p := calibration
			p.Components = slices.Clone(calibration.Components)
			change(&p)
			p.Grid, p.Scale, p.ErrorBound = p.Components[0].Grid, p.Components[0].Scale, p.Components[0].ErrorBound
			_, err := p.Guarantee(c)
			if err == nil || errors.Is(err, mechanisms.ErrUnproved) == proved {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if seat, err := mechanisms.NewMechanism(c, p); err == nil || seat != nil {
				t.Errorf("%s, %s: it gets a seat", name, what)
			}
		}
		for i := range calibration.Components {
			f("half the noise of a part", false, func(p *mechanisms.Calibration) { p.Components[i].Scale.Exp-- })
			f("a bit less noise of a part", false, func(p *mechanisms.Calibration) {
				p.Components[i].Scale = noise.ScaleUp(p.Components[i].Scale.Float64() * (1 - 1e-9))
			})
			f("another distance", true, func(p *mechanisms.Calibration) { p.Components[i].Replace.Lo /= 2 })
			f("another share", true, func(p *mechanisms.Calibration) { p.Components[i].Share++ })
			f("another name", true, func(p *mechanisms.Calibration) { p.Components[i].Name += "x" })
			f("another size", true, func(p *mechanisms.Calibration) { p.Components[i].Size++; p.Components[i].Scales = nil })
		}
		f("scales swapped", true, func(p *mechanisms.Calibration) {
			swapped := slices.Clone(p.Components[2].Scales)
			swapped[0], swapped[1] = swapped[1], swapped[0]
			p.Components[2].Scales = swapped
		})
		f("shares of 0.7, 0.2 and 0.3", false, func(p *mechanisms.Calibration) {
			p.Components[0].Scale = noise.ScaleUp(p.Components[0].Scale.Float64() * math.Sqrt(0.5/0.7))
		})
		f("a part less", true, func(p *mechanisms.Calibration) { p.Components = p.Components[:2] })
	}
}

// TestSumsOfComponentsAreExactWithoutNoise checks that without noise the sums of the components are the contributions
// in loss units, which means that scales are undone. It would find two swapped scales.
func TestSumsOfComponentsAreExactWithoutNoise(t *testing.T) {
	c, v := withComponents("tree-gaussian")
	stream := mechtest.ByCount(mechtest.ZeroStream(t, c))
	want := [][]float64{{0.5, -0.25, 0.125}, {0, 0, 1, 0}, {0.5625, -0.375, 0.25}}
	for range 3 {
		stream.Add(noise.Identity{}, v)
	}
	if stream.Components() != 3 || stream.Dimension() != 10 || c.Contribution.Entries() != 6 {
		t.Errorf("%d parts, %d coordinates, %d entries", stream.Components(), stream.Dimension(), c.Contribution.Entries())
	}
	far := func() (d float64) {
		for i, part := range want {
			for j, x := range stream.Sum(i) {
				d = max(d, math.Abs(x-3*part[j]))
			}
		}
		return d
	}
	if d := far(); d > 1e-5 {
		t.Errorf("sums are %g off", d)
	}
	swapped := c
	swapped.Contribution.Components = slices.Clone(c.Contribution.Components)
	swapped.Contribution.Components[2].Scales = []uint32{1, 2, 2}
	stream = mechtest.ByCount(mechtest.ZeroStream(t, swapped))
	for range 3 {
		stream.Add(noise.Identity{}, v)
	}
	if d := far(); d < 0.1 {
		t.Errorf("with swapped scales sums are %g off alone", d)
	}
}

// TestScalesOfTheDefaultQuantiser checks that the default quantiser clips scaled coordinates. The contribution has norm
// Λ in scaled coordinates, and is released in loss units.
func TestScalesOfTheDefaultQuantiser(t *testing.T) {
	c := config("tree-gaussian", 1)
	c.Contribution = contribution.Contribution{
		Components: []contribution.Component{{Size: 2, Clip: 1, Scales: []uint32{4, 1}}},
	}
	stream := mechtest.ByCount(mechtest.ZeroStream(t, c))
	stream.Add(noise.Identity{}, []float64{1.2, 0.8}) // (0.6, 0.8) after scaling
	if got := stream.Sum(0); math.Abs(got[0]-1.2) > 1e-6 || math.Abs(got[1]-0.8) > 1e-6 {
		t.Errorf("a contribution on the clip comes back as %v", got)
	}
	stream.Add(noise.Identity{}, []float64{60, 40})
	if got := stream.Sum(0); math.Abs(got[0]-2.4) > 1e-6 || math.Abs(got[1]-1.6) > 1e-6 {
		t.Errorf("a clipped contribution comes back as %v", got)
	}
}

// wild is a quantiser that leaves the lattice of its component, so that the stream must take the zero contribution
// instead.
type wild struct{ mechtest.OneHot }

func (wild) Quantise(g lattice.Grid, dst []int64, v []float64) {
	mechtest.OneHot{}.Quantise(g, dst, v)
	if v[0] == 1 || v[0] == 0 {
		dst[0] = (g.Lambda + 1) * int64(1-2*v[0])
	}
}

// counts is a quantiser that sets only one cell, with an integer of any length, and claims a distance of one unit.
type counts struct {
	mechtest.OneHot
	length int64 // true length of its contributions; it claims one unit
}

func (q counts) Distances(lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Int128{Lo: 2}, lattice.Int128{Lo: 1}
}

func (q counts) Quantise(_ lattice.Grid, dst []int64, v []float64) { dst[int(v[0])] = q.length }

// TestContributionsKeepToTheirDistances checks that the quantiser starts from zeros, not from the previous
// contribution, and that no contribution is longer than claimed.
func TestContributionsKeepToTheirDistances(t *testing.T) {
	for length, want := range map[int64]int64{1: 1, -1: -1, 2: 0, 1 << 20: 0} {
		c := config("tree-gaussian", 1)
		c.Contribution = contribution.Contribution{
			Components: []contribution.Component{{Size: 3, Clip: 1, Quantiser: counts{length: length}}},
		}
		stream := mechtest.ByCount(mechtest.ZeroStream(t, c))
		unit := mechtest.Plan(t, c).Grid.Unit()
		for cell := range 3 {
			stream.Add(noise.Identity{Offset: int64(cell)}, []float64{float64(cell)})
		}
		if got, one := stream.Sum(0), float64(want)*unit; !slices.Equal(got, []float64{one, one, one}) {
			t.Errorf("contributions of length %d: one of each cell adds up to %v, want %v in each", length, got, one)
		}
	}
}

func TestContributionsStayOnTheLattice(t *testing.T) {
	c := config("tree-gaussian", 1)
	c.Contribution = contribution.Contribution{Components: []contribution.Component{{Size: 2, Clip: 1, Quantiser: wild{}}}}
	stream := mechtest.ByCount(mechtest.ZeroStream(t, c))
	for _, cell := range []float64{0, 1} {
		stream.Add(noise.Identity{}, []float64{cell})
		if got := stream.Sum(0); got[0] != 0 || got[1] != 0 {
			t.Errorf("a contribution beyond Λ adds %v", got)
		}
	}
}

// TestComponentsHaveIndependentNoise checks that the noises of two components are independent, each with the scale of
// its component, for every kind of noise. It must fail if a component has half its noise, or if two components share an
// instance. The test transforms the noise into standard normals, some 8 000 per component. With probability 1e-9 their
// variance differs from 1 by 6.11 standard errors (9.7 %), or their correlation from 0 by 0.068.
func TestComponentsHaveIndependentNoise(t *testing.T) {
	for _, c := range everyNoise() {
		what := fmt.Sprintf("%s, %s", c.Name, c.Scope.Name())
		c.Contribution = contribution.Contribution{
			Components: []contribution.Component{{Size: 2, Clip: 1, Share: 1}, {Size: 2, Clip: 1, Share: 1}},
		}
		calibration := mechtest.Plan(t, c)
		count := 20
		if facts, _ := mechanisms.FactsOf(c.Name); facts.AtNodes() && facts.Pure() {
			count = int(c.Scope.Span()) // draws after these steps are not normal
		}
		law, err := residual.New(c, calibration, count)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		stream, err := mechanisms.Open(c, calibration, [32]byte{8})
		if err != nil {
			t.Fatal(err)
		}
		if off := dependent(t, law, mechtest.ByCount(stream)); off != "" {
			t.Errorf("%s: %s", what, off)
		}
		alone := c
		alone.Contribution.Components = alone.Contribution.Components[:1]
		first := calibration
		first.Components = nil
		one := func() mechanisms.Sum { return mechtest.Sums(t, alone, first, nil)[0] }
		if stream, err = mechanisms.NewStream(c, calibration, [32]byte{8}, one(), one()); err != nil {
			t.Fatal(err)
		}
		if off := dependent(t, law, mechtest.ByCount(stream)); !strings.Contains(off, "correlation") {
			t.Errorf("%s: two parts are one instance, and their noise passes: %q", what, off)
		}
		first.Scale.Exp--
		if stream, err = mechanisms.NewStream(c, calibration, [32]byte{8}, mechtest.Sums(t, c, calibration, nil)[0],
			one()); err != nil {
			t.Fatal(err)
		}
		if off := dependent(t, law, mechtest.ByCount(stream)); !strings.Contains(off, "variance") {
			t.Errorf("%s: half the noise of a part passes: %q", what, off)
		}
	}
}

// everyNoise returns a configuration of each mechanism that releases components, and one with a memory.
func everyNoise() []mechanisms.Config {
	var all []mechanisms.Config
	for _, name := range mechanisms.Names() {
		if facts, _ := mechanisms.FactsOf(name); facts.ReleasesSums() {
			all = append(all, config(name, 1))
		}
	}
	lasting := config("blt", 1)
	lasting.Scope = protection.Decay{Steps: 8}
	return append(all, lasting)
}

// dependent describes a correlation between the noises of two components, or a wrong scale of one of them. It returns
// "" if there is none.
func dependent(t *testing.T, law *residual.Noise, stream *mechtest.Counted) (off string) {
	t.Helper()
	runs := (4000 + law.Steps() - 1) / law.Steps()
	start, rebuild, z := stream.AppendState(nil), law.Rebuilder(), make([]float64, 4)
	squares, product, n := [2]float64{}, 0.0, 0.0
	for run := range runs {
		if err := stream.Restore(start); err != nil {
			t.Fatal(err)
		}
		rebuild.Start(0)
		for step := range law.Steps() {
			stream.Add(noise.Identity{Partition: int32(run), Offset: int64(step)}, make([]float64, 4))
			rebuild.Next(z, slices.Concat(stream.Sum(0), stream.Sum(1)), make([]float64, 4))
			for j := range 2 {
				squares[0], squares[1], product = squares[0]+z[j]*z[j], squares[1]+z[2+j]*z[2+j], product+z[j]*z[2+j]
			}
			n += 2
		}
	}
	for k, sum := range squares {
		if v := sum / n; math.Abs(v-1) > 6.11*math.Sqrt(2/n) {
			off += fmt.Sprintf("variance %g of part %d; ", v, k)
		}
	}
	if r := product / math.Sqrt(squares[0]*squares[1]); math.Abs(r) > 6.11/math.Sqrt(n) {
		off += fmt.Sprintf("correlation %g", r)
	}
	return off
}

// TestRestoreOfComponents checks that a restored stream of components continues with the same bytes. If the state of
// its last sum is bad, the sums before it must stay unchanged.
func TestRestoreOfComponents(t *testing.T) {
	for _, name := range mechanisms.Names() {
		c, v := withComponents(name)
		c.Batch = 2
		calibration := mechtest.Plan(t, c)
		seat, err := mechanisms.NewMechanism(c, calibration)
		if err != nil {
			t.Fatal(err)
		}
		stream, restored := mechtest.ByCount(seat.Open([32]byte{4})), mechtest.ByCount(seat.Open([32]byte{5}))
		for i := range 21 {
			state := stream.AppendState(nil)
			if state[steps.CountLen] != 1 || len(state) != stream.StateLen() {
				t.Fatalf("%s: version %d, %d bytes, want 1, %d", name, state[steps.CountLen], len(state), stream.StateLen())
			}
			if err := restored.Restore(state); err != nil {
				t.Fatal(err)
			}
			if i == 13 {
				// Two faults in the last sum: a wrong step, and an impossible number. Only the last sum finds the
				// number, after the sums before it have been restored. Per-step sums hold no number.
				places := []int{len(state) - len(lastSum(stream, state)), len(state) - 1}
				if facts, _ := mechanisms.FactsOf(name); facts.EachStep() {
					places = places[:1]
				}
				before := mechtest.ByCount(seat.Open([32]byte{6}))
				for _, place := range places {
					bad, kept := bytes.Clone(state), before.AppendState(nil)
					bad[place] = 0x7f
					if before.Restore(bad) == nil || !bytes.Equal(before.AppendState(nil), kept) {
						t.Errorf("%s: a bad state is taken, or leaves a trace", name)
					}
				}
			}
			v[3] = float64(i % 5)
			id := noise.Identity{Offset: int64(i)}
			if stream.Add(id, v) != restored.Add(id, v) {
				t.Fatal("steps end apart")
			}
			for k := range 3 {
				if !slices.Equal(stream.Sum(k), restored.Sum(k)) {
					t.Fatalf("%s: record %d: part %d of a restored stream is another", name, i, k)
				}
			}
		}
	}
}

// lastSum returns the last sum's part of a stream's state.
func lastSum(stream *mechtest.Counted, state []byte) []byte {
	return state[len(state)-mechanisms.LastSumLen(stream.Stream):]
}

// TestContributionProblemsAreNamed checks that an invalid contribution is refused, and that each problem names its
// component.
func TestContributionProblemsAreNamed(t *testing.T) {
	f := func(want string, change func(l *contribution.Contribution)) {
		t.Helper()
		c, _ := withComponents("tree-gaussian")
		change(&c.Contribution)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f("contribution: 0 components", func(l *contribution.Contribution) { l.Components = nil })
	f(`component 1 "cells": share 0`, func(l *contribution.Contribution) { l.Components[1].Share = 0 })
	f(`component 2 "moments": 2 scales of 3`, func(l *contribution.Contribution) { l.Components[2].Scales = l.Components[2].Scales[1:] })
	f(`component 2 "moments": scale 0 of coordinate 0`, func(l *contribution.Contribution) { l.Components[2].Scales = make([]uint32, 3) })
	f(`component 0 "gradient": lattice: clip`, func(l *contribution.Contribution) { l.Components[0].Clip = math.NaN() })
	f(`component 0 "gradient": dimension 0`, func(l *contribution.Contribution) { l.Components[0].Size = 0 })
	f(`component 2 "moments": distances`, func(l *contribution.Contribution) { l.Components[2].Quantiser = moments{d: 2, r: 1 << 14} })
	f("dimension 16777223", func(l *contribution.Contribution) { l.Components[0].Size = 1 << 24 })
}
