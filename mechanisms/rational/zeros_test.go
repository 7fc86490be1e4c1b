package rational

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// exact is a polynomial with coefficients from the lowest power on, the last one not zero.
type exact []*big.Rat

func (p exact) at(z *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, c := range slices.Backward(p) {
		sum.Mul(sum, z).Add(sum, c)
	}
	return sum
}

// remainder returns −(p mod q).
func (p exact) remainder(q exact) exact {
	r := make(exact, len(p))
	for i, c := range p {
		r[i] = new(big.Rat).Neg(c)
	}
	for len(r) >= len(q) {
		top := len(r) - 1
		factor := new(big.Rat).Quo(r[top], q[len(q)-1])
		for i, c := range q {
			x := r[top-len(q)+1+i]
			x.Sub(x, new(big.Rat).Mul(factor, c))
		}
		for r = r[:top]; len(r) > 0 && r[len(r)-1].Sign() == 0; {
			r = r[:len(r)-1]
		}
	}
	return r
}

// sturm returns the number of distinct zeros of p in (0, 1], by Sturm's theorem.
func sturm(p exact) int {
	slope := make(exact, len(p)-1)
	for i := range slope {
		slope[i] = new(big.Rat).Mul(p[i+1], big.NewRat(int64(i+1), 1))
	}
	chain := []exact{p, slope}
	for last := slope; len(last) > 1; {
		last = chain[len(chain)-2].remainder(last)
		if len(last) == 0 {
			break
		}
		chain = append(chain, last)
	}
	changes := func(z *big.Rat) (n int) {
		before := 0
		for _, q := range chain {
			if sign := q.at(z).Sign(); sign != 0 {
				if sign == -before {
					n++
				}
				before = sign
			}
		}
		return n
	}
	return changes(new(big.Rat)) - changes(big.NewRat(1, 1))
}

// definition returns F·Π(z − q_k) computed from the definition, at a rational z that is not a pole.
func definition(f Fraction, z *big.Rat) *big.Rat {
	sum, product := big.NewRat(1, 1), big.NewRat(1, 1)
	for k, q := range f.Poles {
		distance := new(big.Rat).Sub(z, big.NewRat(int64(q), Unit))
		sum.Add(sum, new(big.Rat).Quo(big.NewRat(f.Residues[k], Unit), distance))
		product.Mul(product, distance)
	}
	return sum.Mul(sum, product)
}

// drawn returns a random fraction of up to six poles with residues of both signs. In a third of the cases all residues
// have the same sign.
func drawn(rng *rand.Rand) (f Fraction) {
	for range 1 + rng.IntN(6) {
		f.Poles = append(f.Poles, 1+rng.Uint32N(Unit-1))
	}
	slices.Sort(f.Poles)
	slices.Reverse(f.Poles)
	alike, sign := rng.IntN(3) == 0, int64(1-2*rng.IntN(2))
	for range f.Poles {
		if !alike {
			sign = int64(1 - 2*(rng.IntN(4)/3))
		}
		f.Residues = append(f.Residues, (1+rng.Int64N(Unit>>rng.IntN(12)))*sign)
	}
	return f
}

// TestZerosAreThoseSturmCounts checks that zeros are found exactly if Sturm's theorem counts m of them, and that the
// definition changes sign in each interval. At each zero the residue of the inverse must be 1/F′, computed as a
// difference quotient.
func TestZerosAreThoseSturmCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	found := [2]int{}
	for range tiertest.Runs(300, 900) {
		f := drawn(rng)
		var n exact
		for _, c := range f.numerator() {
			n = append(n, new(big.Rat).SetInt(c))
		}
		zeros, ok := f.zeros()
		if want := sturm(n) == len(f.Poles) && n.at(big.NewRat(1, 1)).Sign() != 0; ok != want {
			t.Fatalf("%v: zeros found: %v, Sturm counts %d", f, ok, sturm(n))
		}
		if !ok {
			found[0]++
			continue
		}
		found[1]++
		before := big.NewRat(1, 1)
		for _, z := range zeros {
			lo, _ := z.Lo.Rat(nil)
			hi, _ := z.Hi.Rat(nil)
			if definition(f, lo).Sign()*definition(f, hi).Sign() != -1 || hi.Cmp(before) >= 0 || lo.Sign() <= 0 {
				t.Fatalf("%v: no zero in [%g, %g]", f, z.Lo, z.Hi)
			}
			before = lo
		}
		f.checkResidues(t)
	}
	if found[0] < 50 || found[1] < 50 {
		t.Errorf("%d fractions without and %d with their zeros: the test tests little", found[0], found[1])
	}
}

// checkResidues compares F at a point far from all poles with the partial fractions of 1/F.
func (f Fraction) checkResidues(t *testing.T) {
	t.Helper()
	poles, residues, ok := f.Inverse()
	if !ok {
		t.Fatalf("%v: no inverse", f)
	}
	sum, z := Whole(1), Whole(3)
	for i, p := range poles {
		sum = sum.Add(residues[i].Mul(z.Sub(p).Inverse()))
	}
	at, ok := f.At(z)
	product := at.Mul(sum)
	width, _ := new(big.Float).Sub(product.Hi, product.Lo).Float64()
	if one := big.NewFloat(1); !ok || product.Lo.Cmp(one) > 0 || product.Hi.Cmp(one) < 0 || width > 0x1p-60 {
		t.Fatalf("%v: F·(1/F) is in [%g, %g]", f, product.Lo, product.Hi)
	}
}

// TestSumsWithRatesAtTheEnds computes sums of squares and trains by their definition. A rate 0 contributes only to the
// first term, and a rate 1 to all terms.
func TestSumsWithRatesAtTheEnds(t *testing.T) {
	s := Sum{
		Rates: []Interval{Whole(1), Whole(0), Dyadic(3, -2)}, Weights: []Interval{Dyadic(-5, -3), Whole(7), Dyadic(9, -1)},
	}
	at := func(j int) float64 {
		x := -0.625 + 4.5*math.Pow(0.75, float64(j))
		if j == 0 {
			x += 7
		}
		return x
	}
	near := func(what string, in Interval, want float64) {
		t.Helper()
		lo, _ := in.Lo.Float64()
		hi, _ := in.Hi.Float64()
		if math.Abs(lo-want) > 1e-11*math.Abs(want) || math.Abs(hi-want) > 1e-11*math.Abs(want) {
			t.Errorf("%s is in [%g, %g], want %g", what, lo, hi, want)
		}
	}
	energy := 0.0
	for j := range 20 {
		near("a term", s.At(uint64(j)), at(j))
		near("a sum of squares", s.Energy(uint64(j)), energy)
		energy += at(j) * at(j)
	}
	for _, separation := range []int{1, 2, 5} {
		for _, count := range []int{1, 2, 9} {
			want := 0.0
			for j := range 17 {
				x := 0.0
				for r := 0; r < count && r*separation <= j; r++ {
					x += at(j - r*separation)
				}
				want += x * x
			}
			near("a train", s.Train(17, uint64(separation), uint64(count)), want)
		}
	}
}
