package block_test

import (
	"math"
	"math/bits"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/operators/aggregate/block"
)

// blocks returns the shapes whose distances are enumerated: blocks with a single column, with small counts, with
// squares weighted far above means, around the double root at c² = 2b², and with all columns at once.
func blocks() []block.Block {
	return []block.Block{
		{Count: 1},
		{Mean: 1},
		{Square: 1},
		{Quantile: 1, Bins: 7},
		{Count: 1, Mean: 1},
		{Count: 0.3, Mean: 1},
		{Count: 1, Mean: 0.1, Square: 3},
		{Count: 0.1, Mean: 1, Square: math.Sqrt2},
		{Mean: 1, Square: 1.5},
		{Count: 0.1, Mean: 1, Square: 5},
		{Mean: 0.2, Square: 1},
		{Count: 1, Mean: 1, Square: 1, Bins: 5, Quantile: 0.5},
		{Count: 0.2, Mean: 1, Square: 0.5, Bins: 16, Quantile: 1},
		{Count: 0.5, Mean: 1, Square: 0.5, Bins: 9, Quantile: 0.7, Histogram: true},
		{Quantile: 1, Bins: 6, Histogram: true},
	}
}

// entries returns dense samples of cells, values and weights, and some invalid numbers.
func entries(cells int, dense int) [][]float64 {
	var out [][]float64
	for cell := range cells {
		for k := -dense; k <= dense; k++ {
			for _, weight := range []float64{0, 0.01, 0.5, 0.99, 1, 2} {
				out = append(out, []float64{float64(cell), float64(k) / float64(dense), weight})
			}
		}
		for _, odd := range []float64{-1e300, 1e300, 1.5, -2, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324} {
			out = append(out, []float64{float64(cell), odd, 2}, []float64{float64(cell), 1, odd},
				[]float64{float64(cell), odd, odd})
		}
	}
	for _, cell := range []float64{-1, 0.5, float64(cells), 1e300, math.NaN(), math.Inf(1), math.Inf(-1)} {
		out = append(out, []float64{cell, 1, 2})
	}
	return out
}

// fault is a quantiser with a planted fault.
type fault struct {
	block.OneHot
	twoCells, value, weight, short, long bool
}

func (f fault) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	replace, zeroOut = f.OneHot.Distances(g)
	if f.short {
		replace.Lo = max(replace.Lo/2, zeroOut.Lo)
	}
	return replace, zeroOut
}

// claims returns the distances that a quantiser claims, on a lattice where squared distances fit a uint64.
func claims(t *testing.T, g lattice.Grid, q contribution.Quantiser) (replace, zeroOut uint64) {
	t.Helper()
	near, far := q.Distances(g)
	if near.Hi != 0 || far.Hi != 0 {
		t.Fatalf("distances %v and %v do not fit a word", near, far)
	}
	return near.Lo, far.Lo
}

// TestFineLatticesHaveTheContributionsOfCoarseOnes checks that contributions and distances on a lattice finer than 31
// bits equal those on the lattice of 31 bits times a power of two.
func TestFineLatticesHaveTheContributionsOfCoarseOnes(t *testing.T) {
	for _, b := range blocks() {
		for _, weight := range []float64{1, 1.75} {
			h := block.OneHot{Block: b, Cells: 2, Weight: weight}
			coarse, err := lattice.NewFineGrid(h.Component().Clip, 31)
			if err != nil {
				t.Fatal(err)
			}
			near, far := claims(t, coarse, h)
			for _, size := range []int{32, 36, lattice.FineBits} {
				fine, err := lattice.NewFineGrid(h.Component().Clip, size)
				if err != nil {
					t.Fatal(err)
				}
				factor := int64(1) << (size - 31)
				one := func(square uint64) lattice.Int128 {
					high, low := bits.Mul64(square, uint64(factor*factor))
					return lattice.Int128{Hi: int64(high), Lo: low}
				}
				if x, y := h.Distances(fine); x != one(near) || y != one(far) {
					t.Errorf("%+v at %d bits: distances %v and %v", h, size, x, y)
				}
				for _, v := range entries(h.Cells, 10) {
					x, y := make([]int64, h.Size()), make([]int64, h.Size())
					h.Quantise(coarse, x, v)
					h.Quantise(fine, y, v)
					for i := range x {
						if y[i] != x[i]*factor {
							t.Fatalf("%+v at %d bits: %v of %v, coarse %v", h, size, y, v, x)
						}
					}
					if !fine.Contains(y) {
						t.Fatalf("%+v at %d bits: %v is no contribution", h, size, y)
					}
				}
			}
		}
	}
}

func (f fault) Quantise(g lattice.Grid, dst []int64, v []float64) {
	f.OneHot.Quantise(g, dst, v)
	n := f.Block.Size()
	switch {
	case f.twoCells:
		copy(dst[n:], dst[:n])
	case f.long && v[0] == 0 && v[1] == -1: // planted fault: the column of bins ends in the next cell
		dst[n] = int64(f.Quantile * block.Coefficient(f.Bins) / g.Unit())
	case f.value && v[1] == 1.5 && v[0] == 0:
		dst[1] = dst[1] * 3 / 2
	case f.weight && v[2] == 2:
		for i := range dst {
			dst[i] *= 2
		}
	}
}

// TestDistancesByEnumeration checks the claimed distances against every contribution of a coarse lattice and a dense
// sample of a fine one. No distance between contributions, or from zero, may exceed the claim, and some must be close
// to it.
func TestDistancesByEnumeration(t *testing.T) {
	f := func(g lattice.Grid, q contribution.Quantiser, h block.OneHot, dense int, holds bool) {
		t.Helper()
		replace, zeroOut := mechtest.LargestDistances(g, q, h.Size(), entries(h.Cells, dense))
		claimReplace, claimZero := claims(t, g, q)
		if within := replace <= claimReplace && zeroOut <= claimZero; within != holds {
			t.Errorf("%+v: √%d and √%d, claimed √%d and √%d", q, replace, zeroOut, claimReplace, claimZero)
		}
		if !holds {
			return
		}
		if zeroOut != claimZero {
			t.Errorf("%+v: √%d from zero, claimed √%d", q, zeroOut, claimZero)
		}
		if h.Cells > 1 && claimReplace == 2*claimZero && replace != claimReplace {
			t.Errorf("%+v: √%d apart, claimed √%d", q, replace, claimReplace)
		}
		slack := float64(8 + h.Block.Size()) // rounding of both contributions, in lattice units
		if h.Bins == 0 && math.Sqrt(float64(claimReplace)) > math.Sqrt(float64(replace))*1.0001+slack {
			t.Errorf("%+v: √%d apart, claimed √%d", q, replace, claimReplace)
		}
	}
	for _, b := range blocks() {
		for _, cells := range []int{1, 2} {
			for _, weight := range []float64{1, 1.75} {
				h := block.OneHot{Block: b, Cells: cells, Weight: weight}
				f(lattice.Grid{Exp: -6, Lambda: 1 << 20}, h, h, 150, true)
				fine, err := lattice.NewGrid(h.Component().Clip)
				if err != nil {
					t.Fatal(err)
				}
				f(fine, h, h, 40, true)
			}
		}
	}
	g := lattice.Grid{Exp: -6, Lambda: 1 << 20}
	h := block.OneHot{Block: block.Block{Count: 1, Mean: 1}, Cells: 2, Weight: 1}
	f(g, fault{OneHot: h, twoCells: true}, h, 20, false)
	f(g, fault{OneHot: h, value: true}, h, 20, false)
	f(g, fault{OneHot: h, short: true}, h, 20, false)
	h.Weight = 1.5
	f(g, fault{OneHot: h, weight: true}, h, 20, false)
	h = block.OneHot{Block: block.Block{Count: 0.1, Bins: 7, Quantile: 1}, Cells: 2, Weight: 1}
	f(g, h, h, 20, true)
	f(g, fault{OneHot: h, long: true}, h, 20, false)
}

// TestDistancesWithinACellAreJoint checks that the claim for one cell is attained to half a per cent by bins and sums
// together. The joint bound is less than the sum of the separate bounds. Values lie at both ends of each bin, where
// distances are largest.
func TestDistancesWithinACellAreJoint(t *testing.T) {
	for _, b := range []block.Block{
		{Quantile: 1, Bins: 64},
		{Mean: 1, Quantile: 1, Bins: 64},
		{Count: 1, Mean: 0.3, Quantile: 1, Bins: 100},
		{Count: 1, Mean: 2, Quantile: 0.5, Bins: 33},
		{Count: 0.2, Mean: 1, Square: 0.5, Bins: 64, Quantile: 1},
		{Count: 0.2, Mean: 0.2, Square: 2, Bins: 100, Quantile: 0.5},
	} {
		h := block.OneHot{Block: b, Cells: 1, Weight: 1}
		g, err := lattice.NewGrid(h.Component().Clip)
		if err != nil {
			t.Fatal(err)
		}
		values := entries(1, 50)
		for bin := range b.Bins {
			for _, within := range []float64{1e-6, 0.5, 1 - 1e-6} {
				x := 2*(float64(bin)+within)/float64(b.Bins) - 1
				values = append(values, []float64{0, x, 1}, []float64{0, -x, 1})
			}
		}
		replace, zeroOut := mechtest.LargestDistances(g, h, h.Size(), values)
		claimReplace, claimZero := claims(t, g, h)
		if replace > claimReplace || zeroOut != claimZero || float64(claimReplace) > 1.01*float64(replace) {
			t.Errorf("%+v: √%d and √%d, claimed √%d and √%d", b, replace, zeroOut, claimReplace, claimZero)
		}
		alone := uint64(0)
		for _, part := range []block.Block{{Mean: b.Mean, Square: b.Square}, {Bins: b.Bins, Quantile: b.Quantile}} {
			if part.Size() > 0 {
				near, _ := claims(t, g, block.OneHot{Block: part, Cells: 1, Weight: 1})
				alone += near
			}
		}
		if b.Mean > 0 && claimReplace >= alone && claimReplace > claimZero {
			t.Errorf("%+v: claimed √%d, no less than √%d, both apart", b, claimReplace, alone)
		}
	}
}

// TestComponentHoldsEveryContribution checks that a component is valid on every lattice, and that its longest
// contribution is at most Λ.
func TestComponentHoldsEveryContribution(t *testing.T) {
	for _, b := range append(blocks(), block.Block{Count: 1, Mean: 0.3, Square: 0.7, Bins: block.MaxBins, Quantile: 2}) {
		for _, weight := range []float64{1, 1e-3, 0.999, 3e5} {
			h := block.OneHot{Block: b, Cells: 3, Weight: weight}
			if err := h.Validate(); err != nil {
				t.Fatal(err)
			}
			part := h.Component()
			for size := lattice.CoarseBits; size <= 31; size++ {
				g, err := lattice.NewFineGrid(part.Clip, size)
				if err != nil {
					t.Fatal(err)
				}
				replace, zeroOut := claims(t, g, h)
				square := uint64(g.Lambda) * uint64(g.Lambda)
				if zeroOut > square || replace > 4*zeroOut || replace < zeroOut {
					t.Errorf("%+v, %d bits: √%d and √%d, Λ² = %d", h, size, replace, zeroOut, square)
				}
				if float64(zeroOut) < (1-0x1p-18)*float64(square) {
					t.Errorf("%+v, %d bits: √%d is much less than Λ² = %d", h, size, zeroOut, square)
				}
			}
		}
	}
}

// TestQuantiseIsTheDefinition compares contributions with the definition in floating point, to one unit a coordinate.
func TestQuantiseIsTheDefinition(t *testing.T) {
	for _, b := range blocks() {
		for _, most := range []float64{1, 2.5} {
			h := block.OneHot{Block: b, Cells: 2, Weight: most}
			g, err := lattice.NewGrid(h.Component().Clip)
			if err != nil {
				t.Fatal(err)
			}
			for k := range 400 {
				x, weight := math.Sin(float64(k))*1.1, math.Abs(math.Cos(float64(3*k)))*2
				dst := make([]int64, h.Size())
				h.Quantise(g, dst, []float64{1, x, weight})
				if most == 1 {
					weight = 1
				}
				want := make([]float64, 0, h.Block.Size())
				x = min(max(x, -1), 1)
				for _, column := range [][2]float64{{b.Count, 1}, {b.Mean, x}, {b.Square, x*x - 0.5}} {
					if column[0] > 0 {
						want = append(want, weight*column[0]*column[1]/g.Unit())
					}
				}
				bin := min(int((x+1)/2*float64(b.Bins)), b.Bins-1)
				for i := range b.Bins {
					r := 0.0
					if i == bin || i > bin && !b.Histogram {
						r = math.Exp(lchoose(i - bin))
					}
					want = append(want, weight*b.Quantile*r/g.Unit())
				}
				for i, w := range want {
					if got := dst[b.Size()+i]; math.Abs(float64(got)-w) > 2.5 || dst[i] != 0 {
						t.Fatalf("%+v, x = %g, weight %g: coordinate %d is %d, want %g", h, x, weight, i, got, w)
					}
				}
			}
		}
	}
}

// TestQuantiseClampsBeforeItRounds checks that a value beyond a range counts as the end of the range for every
// distance, and that a NaN counts as nothing. Without the clamp, the integer would depend on the CPU.
func TestQuantiseClampsBeforeItRounds(t *testing.T) {
	h := block.OneHot{Block: block.Block{Count: 1, Mean: 1}, Cells: 1, Weight: 2}
	g, err := lattice.NewGrid(h.Component().Clip)
	if err != nil {
		t.Fatal(err)
	}
	quantised := func(value, weight float64) [2]int64 {
		dst := make([]int64, h.Size())
		h.Quantise(g, dst, []float64{0, value, weight})
		return [2]int64(dst)
	}
	for _, far := range []float64{1.5, 1e300, math.Inf(1)} {
		for _, x := range []struct{ got, want [2]int64 }{
			{quantised(far, 1), quantised(1, 1)},
			{quantised(-far, 1), quantised(-1, 1)},
			{quantised(0.5, 2*far), quantised(0.5, 2)},
			{quantised(0.5, -far), [2]int64{}},
		} {
			if x.got != x.want {
				t.Errorf("%g beyond a range: %d, want %d", far, x.got, x.want)
			}
		}
	}
	if quantised(math.NaN(), 1) != [2]int64{} || quantised(0.5, math.NaN()) != [2]int64{} {
		t.Error("a NaN counts")
	}
}

// lchoose returns log(C(2k, k)/4^k).
func lchoose(k int) float64 {
	a, _ := math.Lgamma(float64(2*k + 1))
	b, _ := math.Lgamma(float64(k + 1))
	return a - 2*b - float64(2*k)*math.Ln2
}

func FuzzQuantise(f *testing.F) {
	f.Add(1.0, 0.5, 1.0, 2.0)
	f.Add(math.NaN(), math.Inf(1), -1.0, 1.0)
	f.Add(0.0, 1e300, math.NaN(), 0.5)
	h := block.OneHot{Block: block.Block{Count: 1, Mean: 0.5, Square: 2, Bins: 9, Quantile: 0.3}, Cells: 3}
	f.Fuzz(func(t *testing.T, cell, x, weight, most float64) {
		h := h
		h.Weight = most
		if h.Validate() != nil {
			return
		}
		g, err := lattice.NewGrid(h.Component().Clip)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]int64, h.Size())
		h.Quantise(g, dst, []float64{cell, x, weight})
		_, zeroOut := claims(t, g, h)
		sum, inCells := uint64(0), 0
		for i := 0; i < len(dst); i += h.Block.Size() {
			some := false
			for _, n := range dst[i:][:h.Block.Size()] {
				sum += uint64(n * n)
				some = some || n != 0
			}
			if some {
				inCells++
			}
		}
		if sum > zeroOut || inCells > 1 {
			t.Errorf("cell %g, x %g, weight %g of %g: √%d from zero in %d cells, claimed √%d", cell, x, weight, most, sum, inCells, zeroOut)
		}
	})
}

func TestQuantiseDoesNotAllocate(t *testing.T) {
	h := block.OneHot{Block: block.Block{Count: 1, Mean: 0.5, Bins: 64, Quantile: 1}, Cells: 384, Weight: 1}
	g, err := lattice.NewGrid(h.Component().Clip)
	if err != nil {
		t.Fatal(err)
	}
	dst, v := make([]int64, h.Size()), []float64{77, 0.25, 1}
	if n := testing.AllocsPerRun(100, func() { h.Quantise(g, dst, v) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkQuantise(b *testing.B) {
	h := block.OneHot{Block: block.Block{Count: 1}, Cells: 384, Weight: 1}
	g, err := lattice.NewGrid(h.Component().Clip)
	if err != nil {
		b.Fatal(err)
	}
	dst, v := make([]int64, h.Size()), []float64{77, 0.25, 1}
	b.ReportAllocs()
	for b.Loop() {
		h.Quantise(g, dst, v)
	}
}
