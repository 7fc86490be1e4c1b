package blt

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

var grid = lattice.Grid{Exp: 0, Lambda: 1 << 24} // one lattice unit is q = 1, so releases are the integers themselves

// fitted caches filters by the arguments of their fit.
var fitted sync.Map

func fitFilter(t testing.TB, window uint64, weight float64, poles int) Filter {
	t.Helper()
	key := [3]float64{float64(window), weight, float64(poles)}
	if f, found := fitted.Load(key); found {
		return f.(Filter)
	}
	f, err := Fit(window, weight, poles)
	if err != nil {
		t.Fatal(err)
	}
	fitted.Store(key, f)
	return f
}

func newCarry(t testing.TB, f Filter, s float64, n int, sampler noise.Sampler) *Sum {
	t.Helper()
	c, err := New(f, noise.ScaleUp(s), grid, n, sampler, 3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// handmade returns the filter of W = 64 as a literal with few digits, because fits may differ between platforms.
func handmade(t testing.TB) Filter {
	t.Helper()
	f := Filter{
		Poles:    [MaxPoles]uint32{1_071_000_000, 878_000_000, 160_000_000},
		Residues: [MaxPoles]int32{60_000_000, 150_000_000, 100_000_001},
		Count:    3,
	}
	f.Shift, _ = f.shift()
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	return f
}

// byDefinition returns the filter b computed from its definition.
func byDefinition(f Filter) *sumtest.Carried {
	return sumtest.NewCarried(f.Poles[:f.Count], func(k int) int64 { return int64(f.Residues[k]) })
}

// carryIsWithinSlack compares carry with its definition, and returns the largest difference in units of η.
func carryIsWithinSlack(t *testing.T, f Filter, draws []int64) float64 {
	t.Helper()
	var buffers [MaxPoles]lattice.Int128
	carry := func(n int64) lattice.Int128 { return f.carry(&buffers, n) }
	return sumtest.CarryIsWithin(t, carry, byDefinition(f), f.Slack(), draws)
}

// TestCarryIsWithinSlackOfItsDefinition checks PROOF.md, Lemma 2. Draws are at the sampler's reach, small, constant,
// alternating and random; their differences must come close to the bound.
func TestCarryIsWithinSlackOfItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	mixed := handmade(t) // residues of mixed signs, because the carry must not depend on them
	mixed.Residues[1] *= -7
	mixed.Shift, _ = mixed.shift()
	for _, f := range []Filter{
		handmade(t), mixed, fitFilter(t, 1, 0.3, 0), fitFilter(t, 1024, 0.3, 4),
		fitFilter(t, 1<<20, 0.3, 4),
	} {
		top := int64(29 << 40)
		if _, err := f.limits(noise.ScaleUp(1 << 40)); err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for _, draws := range sumtest.Extremes(rng, top, 100) {
			worst = max(worst, carryIsWithinSlack(t, f, draws))
		}
		if worst < 0.9 {
			t.Errorf("W=%v: the carry is within %g of η: the bound is loose, or the test tests nothing", f, worst)
		}
	}
}

func FuzzCarry(f *testing.F) {
	f.Add(uint64(1), uint8(3), int64(5), int64(-7), int64(1<<40))
	f.Add(uint64(9), uint8(1), int64(0), int64(0), int64(1))
	f.Fuzz(func(t *testing.T, seed uint64, poles uint8, a, b, c int64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		filter := Filter{Count: poles%MaxPoles + 1}
		for k := range filter.Count {
			filter.Poles[k] = 1 + rng.Uint32N(unit-1)
			filter.Residues[k] = 1 + rng.Int32N(unit/4)
			if rng.IntN(4) == 0 {
				filter.Residues[k] *= -4
			}
		}
		slices.SortFunc(filter.Poles[:filter.Count], func(x, y uint32) int { return int(y) - int(x) })
		filter.Shift, _ = filter.shift()
		if filter.shape() != nil {
			return
		}
		draws := make([]int64, 60)
		for i := range draws {
			draws[i] = []int64{a, b, c}[rng.IntN(3)] % (29 << 36)
		}
		if _, err := NewResponse(filter); err != nil && filter.Validate() == nil {
			t.Error(err) // a filter that Validate accepts must have a Response
		}
		if _, err := filter.limits(noise.ScaleUp(1 << 36)); err == nil {
			carryIsWithinSlack(t, filter, draws)
		}
	})
}

// TestBuffersStayWithinTheirLimits checks that, at the largest scale that limits accepts, draws at the sampler's reach
// neither overflow the buffers nor leave the limits.
func TestBuffersStayWithinTheirLimits(t *testing.T) {
	f := fitFilter(t, 1<<20, 1, 4)
	scale := noise.ScaleUp(1)
	for {
		if _, err := f.limits(noise.Scale{Mant: 1, Exp: scale.Exp + 1}); err != nil {
			break
		}
		scale.Exp++
	}
	if scale.Exp < 44 || scale.Exp > 60 {
		t.Fatalf("scales up to 2^%d are accepted: want all of use, and not all", scale.Exp)
	}
	limit, err := f.limits(scale)
	if err != nil {
		t.Fatal(err)
	}
	var buffers [MaxPoles]lattice.Int128
	top := int64(29) << scale.Exp
	for range 1 << 22 {
		f.carry(&buffers, top)
	}
	for k := range f.Count {
		if !buffer.Within(buffers[k], limit[k]) {
			t.Errorf("buffer %d: %v is beyond %v", k, buffers[k], limit[k])
		}
		share := new(big.Float).Quo(new(big.Float).SetInt(sumtest.Integer(buffers[k])),
			new(big.Float).SetInt(sumtest.Integer(limit[k])))
		if x, _ := share.Float64(); x < 0.2 {
			t.Errorf("buffer %d: reaches only %g of its limit", k, x)
		}
	}
}

// TestReleaseIsTotalCarryAndNoise checks y_t = G_t + M_t + n_t without rounding of sums, for contributions and noise of
// any sign, up to the sampler's reach.
func TestReleaseIsTotalCarryAndNoise(t *testing.T) {
	f, rng := handmade(t), rand.New(rand.NewPCG(5, 6))
	const n = 3
	draws := sumtest.Tails(29, 1<<20)
	rng.Shuffle(len(draws), func(i, j int) { draws[i], draws[j] = draws[j], draws[i] })
	c := newCarry(t, f, 1<<20, n, &sumtest.Script{Values: draws})
	chain, dst := noise.NewChain([32]byte{}), make([]float64, n)
	var total [n]int64
	var slow [n]*sumtest.Carried
	for i := range n {
		slow[i] = byDefinition(f)
	}
	eta, _ := f.Slack().Float64()
	for now := range len(draws) {
		contribution := []int64{rng.Int64N(1<<24) - 1<<23, 1 << 24, -int64(now)}
		sumtest.Step(c, chain, dst, contribution...)
		for i := range n {
			total[i] += contribution[i]
			m, _ := slow[i].Next(draws[(now*n+i)%len(draws)]).Float64()
			if off := dst[i] - float64(total[i]) - float64(draws[(now*n+i)%len(draws)]) - m; off > eta || off < -eta {
				t.Fatalf("step %d: release is %g off", now+1, off)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good, s := handmade(t), noise.ScaleUp(1024)
	f := func(name string, filter Filter, s noise.Scale, g lattice.Grid, n int) {
		t.Helper()
		if _, err := New(filter, s, g, n, &sumtest.Script{Values: []int64{0}}, 0); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	change := func(edit func(*Filter)) Filter {
		bad := good
		edit(&bad)
		return bad
	}
	f("no filter", Filter{}, s, grid, 1)
	f("another shift", change(func(f *Filter) { f.Shift++ }), s, grid, 1)
	f("poles out of order", change(func(f *Filter) { f.Poles[0], f.Poles[1] = f.Poles[1], f.Poles[0] }), s, grid, 1)
	f("pole 1", change(func(f *Filter) { f.Poles[0] = unit }), s, grid, 1)
	f("residue 0", change(func(f *Filter) { f.Residues[1] = 0 }), s, grid, 1)
	f("residues above 1", change(func(f *Filter) { f.Residues[2] = unit - 1 }), s, grid, 1)
	f("unused pole", change(func(f *Filter) { f.Poles[3] = 1 }), s, grid, 1)
	f("five poles", change(func(f *Filter) { f.Count = 5 }), s, grid, 1)
	f("no scale", good, noise.Scale{}, grid, 1)
	f("scale 2^90", good, noise.Scale{Mant: 1, Exp: 90}, grid, 1)
	f("scale 2^62", good, noise.Scale{Mant: 1, Exp: 62}, grid, 1)
	f("no dimension", good, s, grid, 0)
	f("no grid", good, s, lattice.Grid{}, 1)
}
