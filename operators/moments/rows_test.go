package moments

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// coarse returns a lattice on which all contributions can be enumerated: rows have the resolution r = 2^fine.
func coarse(fine int) lattice.Grid { return lattice.Grid{Exp: -2 * fine, Lambda: 1 << (2*fine + 1)} }

// fault is a quantiser with a planted fault.
type fault struct {
	Rows
	plain  bool // the diagonal is not divided by √2, so its noise has scale σ in place of √2·σ
	late   bool // each product is clipped, but x is not clipped before it
	short  bool // the declared distance is 1, as if s were 0
	twice  bool // the contribution of the played arm is in every block
	labels bool // y is not clamped
}

func (f fault) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	if f.short {
		f.Label = 1
	}
	return f.Rows.Distances(g)
}

func (f fault) Quantise(g lattice.Grid, dst []int64, v []float64) {
	f.Rows.Quantise(g, dst, v)
	fine, label, _ := f.units(g)
	d, n := f.Features, f.triangle()
	switch {
	case f.plain:
		row := make([]int64, d+1)
		(lattice.Grid{Exp: -fine, Lambda: 1 << fine}).Quantise(row[:d], v[:d])
		row[d] = labelled(v[d], label)
		at := 0
		for i := range row {
			dst[at] = row[i] * row[i]
			at += d + 1 - i
		}
	case f.late: // each product is clipped to 1, the row is not
		row := make([]float64, d+1)
		for i, x := range v[:d] {
			row[i] = min(max(x, -1), 1) * math.Ldexp(1, fine)
		}
		row[d] = float64(labelled(v[d], label))
		at := 0
		for i := range row {
			for j := i; j <= d; j++ {
				dst[at] = int64(row[i] * row[j])
				if i == j {
					dst[at] = halved(dst[at])
				}
				at++
			}
		}
	case f.twice:
		for block := range f.blocks() {
			if at := int(v[0]); v[0] >= 0 && v[0] < float64(f.blocks()) && block != at {
				copy(dst[block*n:], dst[at*n:][:n])
			}
		}
	case f.labels:
		if math.Abs(v[d]) > 1 {
			for i := range d + 1 {
				dst[f.Block(make([]float64, n), 0).index(i, d)] *= 2
			}
		}
	}
}

// rows returns all rows of a coarse lattice, longer ones, and some invalid ones.
func rows(r Rows, fine int) [][]float64 {
	most := math.Ldexp(1, fine)
	all := [][]float64{{}}
	step := 1.0
	if r.Features > 2 {
		step = 2
	}
	for range r.Features + 1 {
		var next [][]float64
		for _, v := range all {
			for x := -most; x <= most; x += step {
				next = append(next, append(append([]float64{}, v...), x/most))
			}
		}
		all = next
	}
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -7, 5e-324} {
		for i := range r.Features + 1 {
			v := make([]float64, r.Features+1)
			for j := range v {
				v[j] = 1
			}
			v[i] = odd
			all = append(all, v)
		}
	}
	if r.blocks() == 1 {
		return all
	}
	var out [][]float64
	for _, v := range all {
		for block := range r.blocks() {
			out = append(out, append([]float64{float64(block)}, v...))
		}
	}
	for _, block := range []float64{-1, 0.5, float64(r.Blocks), math.NaN(), math.Inf(1)} {
		out = append(out, append([]float64{block}, all[0]...))
	}
	return out
}

// TestLabelsAreClamped checks that a label beyond its range counts as the end of the range, and NaN as 0.
func TestLabelsAreClamped(t *testing.T) {
	for y, want := range map[float64]int64{
		1: 1000, 1.5: 1000, 1e300: 1000, math.Inf(1): 1000, -1e300: -1000, math.Inf(-1): -1000, 0.0006: 1, math.NaN(): 0,
	} {
		if got := labelled(y, 1000); got != want {
			t.Errorf("label %g is %d, want %d", y, got, want)
		}
	}
}

// TestDistancesByEnumeration checks every pair of contributions on a coarse lattice: their distances from each other
// and from zero are within the declared ones, and some come close. Planted faults must exceed the declared distances.
func TestDistancesByEnumeration(t *testing.T) {
	f := func(what string, q contribution.Quantiser, r Rows, fine int, holds bool) {
		t.Helper()
		g := coarse(fine)
		replace, zeroOut := mechtest.LargestDistances(g, q, r.Size(), rows(r, fine))
		near, far := q.Distances(g)
		if within := replace <= near.Lo && zeroOut <= far.Lo; within != holds {
			t.Errorf("%s, %+v: √%d and √%d, claimed √%d and √%d", what, r, replace, zeroOut, near.Lo, far.Lo)
		}
		// Rounding is subtracted, because it is large on this lattice.
		main := math.Sqrt(float64(near.Lo)) - math.Ceil(math.Sqrt(float64(r.Features+1))) - 1
		if holds && r.Features > 1 && math.Sqrt(float64(replace)) < 0.95*main {
			t.Errorf("%s, %+v: √%d is much less than %g", what, r, replace, main)
		}
	}
	for _, label := range []int{MaxLabel, MaxLabel * 3 / 4, MaxLabel / 4} {
		one, two := Rows{Features: 1, Label: label}, Rows{Features: 2, Label: label}
		f("rows", one, one, 4, true)
		f("rows", two, two, 3, true)
		f("diagonal of scale σ", fault{Rows: two, plain: true}, two, 3, false)
		f("clipped after the product", fault{Rows: two, late: true}, two, 3, false)
		three := Rows{Features: 3, Label: label}
		f("rows", three, three, 2, true)
		arms := Rows{Features: 1, Label: label, Blocks: 3}
		f("blocks", arms, arms, 3, true)
		f("in all blocks", fault{Rows: arms, twice: true}, arms, 3, false)
	}
	two := Rows{Features: 2, Label: MaxLabel}
	f("distance of s = 0", fault{Rows: two, short: true}, two, 3, false)
	f("labels not clamped", fault{Rows: two, labels: true}, two, 3, false)
}

// TestContributionsAreWithinTheGrid checks that a grid of the mechanisms holds every contribution, for rows of
// arbitrary bits, and that declared distances follow the formula.
func TestContributionsAreWithinTheGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, r := range []Rows{
		{Features: 1, Label: 1},
		{Features: 2, Label: MaxLabel},
		{Features: 27, Label: 717},
		{Features: 54, Label: MaxLabel, Blocks: 2},
		{Features: MaxFeatures, Label: 700},
	} {
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		part := r.Component()
		for bits := lattice.CoarseBits; bits <= lattice.FineBits; bits++ {
			g, err := lattice.NewFineGrid(part.Clip, bits)
			if err != nil {
				t.Fatal(err)
			}
			near, far := r.Distances(g)
			if lattice.Square(g.Lambda).Less(far) {
				t.Errorf("%+v at %d bits: a contribution may be √%v, Λ = %d", r, bits, far, g.Lambda)
			}
			s := float64(r.Label) / MaxLabel
			loss := math.Sqrt(lattice.Grid{}.Float64(near)) * g.Unit()
			if want := 1 + s*s; loss < want*(1-1e-4) || loss > want+float64(r.Features+4)*g.Unit() {
				t.Errorf("%+v at %d bits: replace distance %g, want %g", r, bits, loss, want)
			}
			if r.Features > 100 && bits%6 > 0 {
				continue
			}
			dst := make([]int64, r.Size())
			for range 20 {
				v := make([]float64, r.Entries())
				for i := range v {
					v[i] = rng.NormFloat64()
				}
				if r.blocks() > 1 {
					v[0] = float64(rng.IntN(r.Blocks))
				}
				v[len(v)-1] = 2*float64(rng.IntN(2)) - 1
				clear(dst)
				r.Quantise(g, dst, v)
				if far.Less(lattice.SquaredLength(dst)) || !g.Contains(dst) {
					t.Fatalf("%+v at %d bits: a contribution is longer than √%v", r, bits, far)
				}
			}
		}
	}
}

// TestHalvedIsNearest checks that halved returns x/√2 rounded to the nearest integer: 2h is closer to √2·x than any
// other even number.
func TestHalvedIsNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 100_000 {
		x := int64(i)
		if i > 50_000 {
			x = rng.Int64N(1 << 43)
		}
		h := halved(x)
		below, above := lattice.Square(2*h-1), lattice.Square(2*h+1) // (2h−1)² ≤ 2x² ≤ (2h+1)² means |h − x/√2| ≤ ½
		whole := lattice.Square(x).Add(lattice.Square(x))
		if x > 0 && (whole.Less(below) || above.Less(whole)) {
			t.Fatalf("half of %d is %d", x, h)
		}
	}
}

// TestSumsAreSecondMoments checks that without noise sums are the second moments of the inputs, for trees, blt,
// decaying sums and per-step releases. An x longer than 1 is scaled to 1 before it is multiplied. The noise of the
// diagonal must have √2 times the standard deviation of the other entries.
func TestSumsAreSecondMoments(t *testing.T) {
	r := Rows{Features: 3, Label: 768, Blocks: 2}
	for _, c := range streams(r) {
		t.Run(c.Name, func(t *testing.T) {
			stream := mechtest.ZeroStream(t, c)
			want, decay := [5][5]float64{}, 1.0
			if memory, decays := c.Scope.Memory(); decays {
				decay = 1 - 1/float64(memory)
			}
			rng := rand.New(rand.NewPCG(5, 6))
			for step := range 40 {
				block := float64(rng.IntN(2))
				a := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), 2*rng.Float64() - 1}
				stream.Add(noise.Identity{Offset: int64(step)}, append([]float64{block}, a...))
				stream.Close()
				length := max(1, math.Sqrt(a[0]*a[0]+a[1]*a[1]+a[2]*a[2]))
				for i := range 3 {
					a[i] /= length
				}
				for i := range 4 {
					for j := range 4 {
						if want[i][j] *= decay; stream.PerStep() {
							want[i][j] = 0
						}
						if block == 1 {
							want[i][j] += a[i] * a[j]
						}
					}
				}
				got, cross := r.Moments(stream.Sum(0), 1), make([]float64, 3)
				got.Cross(cross)
				far := math.Abs(got.Square() - want[3][3])
				for i := range 3 {
					far = max(far, math.Abs(cross[i]-want[i][3]))
					for j := range 3 {
						far = max(far, math.Abs(got.Gram(i, j)-want[i][j]))
					}
				}
				if far > 0.02 { // 40 rows, each with errors up to 2⁻¹³ in a number
					t.Fatalf("step %d: moments are %g off", step, far)
				}
			}
		})
	}
}

// streams returns the mechanisms that accept a quantiser and have noise of known deviation.
func streams(r Rows) []mechanisms.Config {
	c := mechtest.Config(1)
	c.Contribution = contribution.Contribution{Components: []contribution.Component{r.Component()}}
	var all []mechanisms.Config
	for _, name := range []string{"tree-gaussian", "blt", "once-gaussian", "forgetting"} {
		x := c
		switch x.Name = name; name {
		case "tree-gaussian", "blt":
			x.Scope = protection.Window{Steps: 64}
		case "once-gaussian":
			x.Scope = protection.PerStep{}
		default:
			x.Name, x.Scope = "blt", protection.Decay{Steps: 16}
		}
		all = append(all, x)
	}
	return all
}

// TestNoiseIsAsDeclared checks that the noise of a release has the standard deviation that the stream declares, and
// √2 times that on the diagonal. The limit is 6.11 standard errors of a variance, √(2/samples).
func TestNoiseIsAsDeclared(t *testing.T) {
	r := Rows{Features: 60, Label: MaxLabel}
	for _, c := range streams(r) {
		stream := mechtest.Open(t, c, [32]byte{3})
		memory, _ := c.Scope.Memory()
		d, err := stream.Deviation(0, memory)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 9 {
			stream.Add(noise.Identity{Offset: int64(step)}, nil)
			stream.Close()
		}
		sd, m := d.At(9), r.Block(stream.Sum(0), 0)
		var diagonal, rest float64
		for i := range m.Size {
			diagonal += m.At(i, i) * m.At(i, i) / 2
			for j := range i {
				rest += m.At(i, j) * m.At(i, j)
			}
		}
		n := float64(m.Size)
		for _, x := range []struct{ square, count float64 }{{diagonal, n}, {rest, n * (n - 1) / 2}} {
			if z := (x.square/x.count/(sd*sd) - 1) / math.Sqrt(2/x.count); math.Abs(z) > 6.11 {
				t.Errorf("%s: variance of %g numbers is %.1f standard errors off", c.Name, x.count, z)
			}
		}
	}
}

// TestTreesOfMomentsHaveNoiseOfTheirNodes checks a tree. The noise of a prefix of t steps is the noise of as many nodes
// as t has bits set, and never of more nodes than contain one row. The declared noise is compared with the numbers of a
// release, with the diagonal divided by √2. The limit is 6.11 standard errors of a variance.
func TestTreesOfMomentsHaveNoiseOfTheirNodes(t *testing.T) {
	r := Rows{Features: 60, Label: MaxLabel}
	c := mechtest.Config(1)
	c.Contribution = contribution.Contribution{Components: []contribution.Component{r.Component()}}
	c.Name, c.Scope = "tree-gaussian", protection.Lifetime{Steps: 15, Within: 16}
	stream := mechtest.Open(t, c, [32]byte{8})
	d, err := stream.Deviation(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	node := d.At(1)
	for step := range uint64(15) {
		stream.Add(noise.Identity{Offset: int64(step)}, nil)
		stream.Close()
		nodes := float64(bits.OnesCount64(step + 1))
		if got := d.At(step+1) * d.At(step+1) / (node * node); math.Abs(got/nodes-1) > 1e-9 {
			t.Errorf("step %d has the noise of %g nodes, want %g", step+1, got, nodes)
		}
		m, square := r.Block(stream.Sum(0), 0), 0.0
		for i := range m.Size {
			square += m.At(i, i) * m.At(i, i) / 2
			for j := range i {
				square += m.At(i, j) * m.At(i, j)
			}
		}
		n := float64(r.Size())
		if z := (square/n/(nodes*node*node) - 1) / math.Sqrt(2/n); math.Abs(z) > 6.11 {
			t.Errorf("step %d: a variance is %.1f standard errors from that of %g nodes", step+1, z, nodes)
		}
	}
	if most := d.Worst() * d.Worst() / (node * node); math.Abs(most-5) > 1e-9 { // a row is in ⌈log₂ 15⌉ + 1 = 5 nodes
		t.Errorf("the worst is said to have %g nodes, want 5", most)
	}
}

// TestQuantiseAllocatesNothing checks that a contribution allocates nothing.
func TestQuantiseAllocatesNothing(t *testing.T) {
	r := Rows{Features: 27, Label: 717}
	g, err := lattice.NewGrid(r.Component().Clip)
	if err != nil {
		t.Fatal(err)
	}
	dst, v := make([]int64, r.Size()), make([]float64, r.Entries())
	v[3], v[27] = 0.5, 1
	if n := testing.AllocsPerRun(100, func() { r.Quantise(g, dst, v) }); n > 0 {
		t.Errorf("%g allocations for a contribution", n)
	}
}

// TestRowsValidate checks that problems are reported together, and that a label's share above 1 is refused.
func TestRowsValidate(t *testing.T) {
	for _, r := range []Rows{
		{},
		{Features: 1},
		{Features: 1, Label: MaxLabel + 1},
		{Features: MaxFeatures + 1, Label: 1},
		{Features: 5, Label: 5, Blocks: -1},
		{Features: MaxFeatures, Label: 5, Blocks: 1000},
	} {
		if r.Validate() == nil {
			t.Errorf("%+v: valid", r)
		}
	}
	for _, a := range []dp.Adjacency{dp.Replace, dp.ZeroOut} {
		c := mechtest.Config(1)
		c.Unit = protection.Event{Exchange: a}
		c.Contribution = contribution.Contribution{
			Components: []contribution.Component{Rows{Features: 4, Label: 700}.Component()},
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}
