package moments

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/lattice"
)

// pair holds two rows whose numbers have arbitrary bits, and a lattice like the ones of mechanisms.
type pair struct {
	rows Rows
	bits int
	a, b []float64
}

// distances returns the exact squared distances of the contributions, from each other and from zero, and the declared
// squares.
func (p pair) distances(t *testing.T) (replace, zeroOut, near, far lattice.Int128) {
	t.Helper()
	g, err := lattice.NewFineGrid(p.rows.Component().Clip, p.bits)
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]int64, p.rows.Size()), make([]int64, p.rows.Size())
	p.rows.Quantise(g, x, p.a)
	p.rows.Quantise(g, y, p.b)
	zeroOut = lattice.SquaredLength(x)
	if other := lattice.SquaredLength(y); zeroOut.Less(other) {
		zeroOut = other
	}
	for i := range y {
		y[i] -= x[i]
	}
	near, far = p.rows.Distances(g)
	return lattice.SquaredLength(y), zeroOut, near, far
}

func (p pair) check(t *testing.T) {
	t.Helper()
	replace, zeroOut, near, far := p.distances(t)
	if near.Less(replace) || far.Less(zeroOut) {
		t.Errorf("%+v: √%v and √%v, claimed √%v and √%v", p, replace, zeroOut, near, far)
	}
}

// adversarial returns numbers that are hard to clip, to square or to round.
func adversarial(rng *rand.Rand) float64 {
	odd := []float64{
		0, math.Copysign(0, -1), 1, -1, math.Nextafter(1, 2), math.Nextafter(1, 0), 0.5, math.Sqrt(0.5), 0x1p-12, 0x1p-13,
		-0x1p-13, 3 * 0x1p-13, 5e-324, 0x1p-1022, -0x1p-1030, 1e308, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1),
		math.Float64frombits(0x7ff0000000000001),
	}
	switch rng.IntN(4) {
	case 0:
		return odd[rng.IntN(len(odd))]
	case 1:
		return math.Float64frombits(rng.Uint64())
	case 2:
		return float64(rng.Int64N(1<<13)-1<<12) * 0x1p-12
	}
	return rng.NormFloat64()
}

// TestContributionsOfAnyBits checks in integers that contributions on real lattices, coarse and fine, are within the
// declared distances. Rows have arbitrary bits, are the pair at the largest distance, or differ from this pair by one
// bit. They are in one block or in two.
func TestContributionsOfAnyBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for n := range 20_000 {
		d := 1 + rng.IntN(5)
		p := pair{
			rows: Rows{Features: d, Label: []int{1, 3, 512, 717, MaxLabel - 1, MaxLabel}[rng.IntN(6)], Blocks: 1 + rng.IntN(2)},
			bits: lattice.CoarseBits + rng.IntN(lattice.FineBits-lattice.CoarseBits+1),
		}
		p.a, p.b = make([]float64, d+1), make([]float64, d+1)
		for i := range p.a {
			p.a[i], p.b[i] = adversarial(rng), adversarial(rng)
		}
		if n%2 == 0 {
			u := make([]float64, d+1)
			for i := range u {
				u[i] = rng.NormFloat64()
			}
			p.a, p.b = p.rows.LargestDistance(u)
			for _, v := range [][]float64{p.a, p.b} {
				i := rng.IntN(d + 1)
				v[i] = []float64{v[i], math.Nextafter(v[i], 2), math.Nextafter(v[i], -2), v[i] * 3}[rng.IntN(4)]
			}
		}
		if p.rows.Blocks > 1 {
			p.a = append([]float64{float64(rng.IntN(2))}, p.a...)
			p.b = append([]float64{float64(rng.IntN(2))}, p.b...)
		}
		p.check(t)
	}
}

// TestTheClaimIsReached checks that some exchanges reach the declared distance up to rounding: moving a row from one
// block to another, and exchanging the rows at the largest distance within a block. At s = 1 this distance is 2.
func TestTheClaimIsReached(t *testing.T) {
	for _, label := range []int{1, 512, 717, MaxLabel} {
		for bits := lattice.CoarseBits; bits <= lattice.FineBits; bits += 3 {
			a, b := Rows{Features: 3, Label: label}.LargestDistance([]float64{0.3, -0.5, 0.2, 1})
			for _, p := range []pair{
				{rows: Rows{Features: 3, Label: label}, bits: bits, a: a, b: b},
				{
					rows: Rows{Features: 3, Label: label, Blocks: 3}, bits: bits,
					a: append([]float64{0}, a...), b: append([]float64{2}, a...),
				},
			} {
				replace, zeroOut, near, far := p.distances(t)
				units := lattice.Grid{}
				share, length := units.Float64(replace)/units.Float64(near), units.Float64(zeroOut)/units.Float64(far)
				if p.check(t); share < 0.998 || length < 0.998 {
					t.Errorf("%+v: squares are %g and %g of what is claimed", p, share, length)
				}
			}
		}
	}
}

// TestContributionsWithoutNumbers checks contributions of NaN inputs, which are equal on every CPU. A NaN y counts as y
// = 0; a block that is NaN or fractional gives zero.
func TestContributionsWithoutNumbers(t *testing.T) {
	r := Rows{Features: 2, Label: MaxLabel, Blocks: 2}
	g, err := lattice.NewGrid(r.Component().Clip)
	if err != nil {
		t.Fatal(err)
	}
	dst := func(v ...float64) []int64 {
		dst := make([]int64, r.Size())
		r.Quantise(g, dst, v)
		return dst
	}
	nan := math.NaN()
	if got := dst(1, 0.6, 0.8, nan); !slices.Equal(got, dst(1, 0.6, 0.8, 0)) {
		t.Errorf("a y that is no number has the contribution %v", got)
	}
	if got := dst(1, nan, 0.8, 1); !slices.Equal(got, dst(1, 0, 0, 1)) {
		t.Errorf("an x that is no number has the contribution %v", got)
	}
	for _, block := range []float64{nan, -1, 0.5, 1.5, 2, math.Inf(1), math.Inf(-1), -5e-324, math.Nextafter(1, 0)} {
		if got := dst(block, 0.6, 0.8, 1); slices.Max(got) != 0 || slices.Min(got) != 0 {
			t.Errorf("block %g has the contribution %v", block, got)
		}
	}
	if got := dst(math.Copysign(0, -1), 0.6, 0.8, 1); !slices.Equal(got, dst(0, 0.6, 0.8, 1)) {
		t.Errorf("block −0 has the contribution %v", got)
	}
}

func FuzzRows(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, uint16(MaxLabel), uint8(0))
	f.Add(make([]byte, 64), uint16(1), uint8(18))
	f.Fuzz(func(t *testing.T, data []byte, label uint16, bits uint8) {
		p := pair{
			rows: Rows{Features: 2, Label: 1 + int(label)%MaxLabel, Blocks: 2},
			bits: lattice.CoarseBits + int(bits)%(lattice.FineBits-lattice.CoarseBits+1),
			a:    make([]float64, 4), b: make([]float64, 4),
		}
		data = append(data, make([]byte, 64)...)
		for i := range 4 {
			p.a[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
			p.b[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[32+8*i:]))
		}
		if data[0]&1 == 0 { // otherwise the block is mostly outside 0 … Blocks−1
			p.a[0], p.b[0] = float64(data[1]&1), float64(data[1]>>1&1)
		}
		p.check(t)
	})
}
