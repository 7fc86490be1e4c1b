package blt

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// rational is a polynomial with coefficients from the lowest power on, the last one not zero.
type rational []*big.Rat

func (p rational) at(z *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, c := range slices.Backward(p) {
		sum.Mul(sum, z).Add(sum, c)
	}
	return sum
}

// remainder returns −(p mod q).
func (p rational) remainder(q rational) rational {
	r := make(rational, len(p))
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
func sturm(p rational) int {
	slope := make(rational, len(p)-1)
	for i := range slope {
		slope[i] = new(big.Rat).Mul(p[i+1], big.NewRat(int64(i+1), 1))
	}
	chain := []rational{p, slope}
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

// b·Π(z − q_k) from its definition, at a rational z that is no pole.
func definition(f Filter, z *big.Rat) *big.Rat {
	sum, product := big.NewRat(1, 1), big.NewRat(1, 1)
	for k := range f.Count {
		distance := new(big.Rat).Sub(z, big.NewRat(int64(f.Poles[k]), unit))
		sum.Add(sum, new(big.Rat).Quo(big.NewRat(int64(f.Residues[k]), unit), distance))
		product.Mul(product, distance)
	}
	return sum.Mul(sum, product)
}

// PROOF.md, Lemma 1: zeros are found exactly when Sturm's theorem counts m of them, and each interval holds a change of sign of the definition.
func TestZerosAreThoseSturmCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	found := [2]int{}
	for range 600 {
		f := Filter{Count: 1 + uint8(rng.IntN(MaxPoles))}
		poles := make([]uint32, f.Count)
		for k := range poles {
			poles[k] = 1 + rng.Uint32N(unit-1)
		}
		slices.Sort(poles)
		slices.Reverse(poles)
		copy(f.Poles[:], poles)
		for k := range poles {
			f.Residues[k] = (1 + rng.Int32N(unit>>rng.IntN(12))) * int32(1-2*(rng.IntN(4)/3))
		}
		var n rational
		for _, c := range f.numerator() {
			n = append(n, new(big.Rat).SetInt(c))
		}
		zeros, ok := f.zeros()
		if want := sturm(n) == int(f.Count) && n.at(big.NewRat(1, 1)).Sign() != 0; ok != want {
			t.Fatalf("%v: zeros found: %v, Sturm counts %d", f, ok, sturm(n))
		}
		if !ok {
			found[0]++
			continue
		}
		found[1]++
		before := big.NewRat(1, 1)
		for _, z := range zeros {
			lo, _ := z.lo.Rat(nil)
			hi, _ := z.hi.Rat(nil)
			if definition(f, lo).Sign()*definition(f, hi).Sign() != -1 || hi.Cmp(before) >= 0 || lo.Sign() <= 0 {
				t.Fatalf("%v: no zero in [%g, %g]", f, z.lo, z.hi)
			}
			before = lo
		}
	}
	if found[0] < 50 || found[1] < 50 {
		t.Errorf("%d filters without and %d with their zeros: the test tests little", found[0], found[1])
	}
}

// A filter whose zero is a dyadic that bisection meets exactly is enclosed like any other, and so is one with rates of 2⁻³⁰.
func TestZerosAtTheEdges(t *testing.T) {
	for _, f := range []Filter{
		{Poles: [MaxPoles]uint32{3 << 28}, Residues: [MaxPoles]int32{1 << 28}, Count: 1},
		{Poles: [MaxPoles]uint32{3 << 28, 1 << 28}, Residues: [MaxPoles]int32{1<<27 + 1<<26, 1 << 26}, Count: 2},
		{Poles: [MaxPoles]uint32{unit - 1, unit - 2, unit - 3, unit - 4}, Residues: [MaxPoles]int32{1, 1, 1, 1}, Count: 4},
		{Poles: [MaxPoles]uint32{9, 8, 7, 6}, Residues: [MaxPoles]int32{1, 1, 1, 1}, Count: 4},
	} {
		f.Shift, _ = f.shift()
		if err := f.Validate(); err != nil {
			t.Error(err)
			continue
		}
		r, err := NewResponse(f)
		if err != nil {
			t.Errorf("%v: %v", f, err)
		} else if !(r.Noise() >= 1 && r.Noise() < 100) {
			t.Errorf("%v: Σb² = %g", f, r.Noise())
		}
	}
}

// Each fact of PROOF.md, Lemma 1 is checked: these filters have the right shape and lack one.
func TestValidateRefusesOtherSigns(t *testing.T) {
	f := func(name string, poles [MaxPoles]uint32, residues [MaxPoles]int32, count uint8) {
		t.Helper()
		bad := Filter{Poles: poles, Residues: residues, Count: count}
		bad.Shift, _ = bad.shift()
		if err := bad.shape(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := bad.Validate(); !errors.Is(err, errSigns) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := NewResponse(bad); !errors.Is(err, errSigns) {
			t.Errorf("%s: NewResponse: %v", name, err)
		}
	}
	f("a zero below 0", [MaxPoles]uint32{1 << 29}, [MaxPoles]int32{1 << 29}, 1)
	f("a zero above 1", [MaxPoles]uint32{1 << 29}, [MaxPoles]int32{-1 << 30}, 1)
	f("complex zeros", [MaxPoles]uint32{1_052_400_000, 1_045_700_000, 1_037_300_000, 741_700_000}, [MaxPoles]int32{-599_600_000, 1_593_700_000, -791_400_000, 325_200_000}, 4)
	f("d rises at once", [MaxPoles]uint32{1 << 29}, [MaxPoles]int32{-1 << 28}, 1)
	f("d falls, rises and falls", [MaxPoles]uint32{1_069_400_057, 973_068_930, 657_901_436}, [MaxPoles]int32{62_432_899, 1_184_616_662, -304_083_150}, 3)
	f("d falls below 0", [MaxPoles]uint32{1_064_733_853, 379_092_139}, [MaxPoles]int32{1_214_916_363, -72_804_599}, 2)
	f("d rises above 1", [MaxPoles]uint32{616_166_819, 457_343_848}, [MaxPoles]int32{-316_100_806, 411_681_119}, 2)
	good := mixed(t)
	good.Poles[0] -= 1 << 22
	good.Shift, _ = good.shift()
	f("not quite a fitted one", good.Poles, good.Residues, good.Count)
}
