package rational

import (
	"math/big"

	"oriel/mechanisms/dp"
)

// zeroBits is the precision of zeros in fraction bits. Points are integers, in units of 2^−zeroBits, and the signs
// there are exact.
const zeroBits = 200

// zeros encloses the zeros of F in z, falling. They are the zeros of N(z) = F·Π(z − q_k), a polynomial of degree m. ok
// means that N changes sign across m disjoint intervals in (0, 1), so that each contains one zero and N has no other
// zeros.
func (f Fraction) zeros() (zeros []Interval, ok bool) {
	n := f.numerator()
	if zeros, ok = n.verify(f.between(n)); ok {
		return zeros, true
	}
	return n.verify(n.guesses())
}

// verify returns an interval around each guess. ok means a proof that these are all zeros of p.
func (p polynomial) verify(guesses []*big.Int) (zeros []Interval, ok bool) {
	below := new(big.Int).Lsh(big.NewInt(1), zeroBits) // starts at 1, then is the low end of the previous zero
	margin := big.NewInt(2)                            // covers the error of Newton's last step, plus one
	for _, z := range guesses {
		lo, hi := new(big.Int).Sub(z, margin), new(big.Int).Add(z, margin)
		if p.at(lo).Sign()*p.at(hi).Sign() != -1 || hi.Cmp(below) >= 0 || lo.Sign() <= 0 {
			return nil, false
		}
		zeros, below = append(zeros, Interval{point(lo), point(hi)}), lo
	}
	return zeros, len(zeros) == len(p)-1
}

// between returns points near the zeros of N, falling, if all residues have one sign. Then F is monotone between two
// poles, so that it has a zero there, and one more outside. It returns nil if it finds no such zeros in (0, 1); verify
// must prove those that it finds.
func (f Fraction) between(n polynomial) (out []*big.Int) {
	if len(f.Poles) == 0 {
		return nil
	}
	negative, slope := f.Residues[0] < 0, n.derivative()
	for k, q := range f.Poles {
		if f.Residues[k] == 0 || (f.Residues[k] < 0) != negative {
			return nil
		}
		low, high := 0.0, float64(q) // a zero is below each pole if residues are positive, and above it if not
		switch {
		case negative && k > 0:
			low, high = float64(q), float64(f.Poles[k-1])
		case negative:
			low, high = float64(q), Unit
		case k+1 < len(f.Poles):
			low = float64(f.Poles[k+1])
		}
		z, ok := n.newton(slope, scaled(low), scaled(high), scaled(f.near(low, high, negative)))
		if !ok {
			return nil
		}
		out = append(out, z)
	}
	return out
}

// near returns a point near the zero of F between low and high, in units of 2⁻³⁰, if F rises or falls there.
func (f Fraction) near(low, high float64, rises bool) float64 {
	for range roughBisections {
		z, sum := (low+high)/2, 1.0
		for k, q := range f.Poles {
			sum += float64(f.Residues[k]) / (z - float64(q))
		}
		if (sum < 0) == rises {
			low = z
		} else {
			high = z
		}
	}
	return (low + high) / 2
}

// scaled returns x·2⁻³⁰ as a point.
func scaled(x float64) *big.Int {
	z, _ := new(big.Float).SetMantExp(big.NewFloat(x), zeroBits-Bits).Int(nil)
	return z
}

// point converts a point, an integer in units of 2^−zeroBits, to a number, exactly.
func point(z *big.Int) *big.Float {
	x := dp.Float().SetInt(z)
	return x.SetMantExp(x, -zeroBits)
}

// polynomial holds integer coefficients from the lowest power on.
type polynomial []*big.Int

// numerator returns 2^{30m}·(Π(z − q_k) + Σ_k R_k·Π_{l≠k}(z − q_l)), by k: N ← N·(z − q_k) + R_k·P and P ← P·(z − q_k).
func (f Fraction) numerator() polynomial {
	times := func(p polynomial, q int64) polynomial { // 2³⁰·p·(z − q/2³⁰)
		out := make(polynomial, len(p)+1)
		for i := range out {
			out[i] = new(big.Int)
			if i > 0 {
				out[i].Lsh(p[i-1], Bits)
			}
			if i < len(p) {
				out[i].Sub(out[i], new(big.Int).Mul(p[i], big.NewInt(q)))
			}
		}
		return out
	}
	n, p := polynomial{big.NewInt(1)}, polynomial{big.NewInt(1)}
	for k := range f.Poles {
		n = times(n, int64(f.Poles[k]))
		for i, x := range p {
			n[i].Add(n[i], new(big.Int).Mul(x, big.NewInt(f.Residues[k])))
		}
		p = times(p, int64(f.Poles[k]))
	}
	return n
}

// at returns p(z) at a point z, times 2^{zeroBits·degree}.
func (p polynomial) at(z *big.Int) *big.Int {
	sum, part := new(big.Int), new(big.Int)
	for i := len(p) - 1; i >= 0; i-- {
		sum.Mul(sum, z).Add(sum, part.Lsh(p[i], uint(zeroBits*(len(p)-1-i))))
	}
	return sum
}

func (p polynomial) derivative() polynomial {
	out := make(polynomial, len(p)-1)
	for i := range out {
		out[i] = new(big.Int).Mul(p[i+1], big.NewInt(int64(i+1)))
	}
	return out
}

// Bits of a zero that bisection finds, and the number of Newton steps after it. Usually the first few bits suffice. If
// zeros are 2⁻⁶⁰ apart, this many steps reach zeroBits.
const (
	firstBisections = 20
	bisections      = 80
	newtonSteps     = 6

	// roughBisections are those in floating point, where a step costs nothing.
	roughBisections = 60
)

// guesses returns points near zeros of p in (0, 1), falling: between two zeros of its derivative p has at most one
// zero. zeros must verify them.
func (p polynomial) guesses() []*big.Int {
	if len(p) < 2 {
		return nil
	}
	var out []*big.Int
	slope := p.derivative()
	high := new(big.Int).Lsh(big.NewInt(1), zeroBits)
	for _, low := range append(slope.guesses(), new(big.Int)) {
		if a, b := p.at(low).Sign(), p.at(high).Sign(); a*b < 0 {
			out = append(out, p.guess(slope, low, high, a))
		}
		high = low
	}
	return out
}

// guess returns a point near the zero of p between low, where p has the given sign, and high.
func (p polynomial) guess(slope polynomial, low, high *big.Int, sign int) (z *big.Int) {
	for n := range bisections {
		if n == firstBisections {
			if z, ok := p.newton(slope, low, high, mean(low, high)); ok {
				return z
			}
		}
		middle := mean(low, high)
		if p.at(middle).Sign() == sign {
			low = middle
		} else {
			high = middle
		}
	}
	z, _ = p.newton(slope, low, high, mean(low, high))
	return z
}

// mean returns the point in the middle.
func mean(low, high *big.Int) *big.Int {
	z := new(big.Int).Add(low, high)
	return z.Rsh(z, 1)
}

// newton returns the limit of Newton's method from a point z of an interval, and changes z. ok is true if it converged
// within the interval.
func (p polynomial) newton(slope polynomial, low, high, z *big.Int) (limit *big.Int, ok bool) {
	one := big.NewInt(1)
	for range newtonSteps {
		s := slope.at(z)
		if s.Sign() == 0 {
			return z, false
		}
		s.Quo(p.at(z), s)
		z.Sub(z, s)
		if s.CmpAbs(one) <= 0 {
			return z, z.Cmp(low) > 0 && z.Cmp(high) < 0
		}
	}
	return z, false
}
