package rational

import (
	"fmt"
	"math/bits"
)

// Sum is the sequence Σ_i w_i·p_i^j, j ≥ 0, of rates p_i in [0, 1] and weights w_i, with 0⁰ = 1, so that a rate 0
// contributes only to the first term.
type Sum struct {
	Rates, Weights []Interval
}

// Add adds a rate with its weight.
func (s *Sum) Add(rate, weight Interval) {
	s.Rates, s.Weights = append(s.Rates, rate), append(s.Weights, weight)
}

// At returns term j.
func (s Sum) At(j uint64) Interval {
	sum := Whole(0)
	for i, w := range s.Weights {
		sum = sum.Add(w.Mul(s.Rates[i].Power(j)))
	}
	return sum
}

// Energy returns the sum of the squares of the given number of first terms, by geometric sums.
func (s Sum) Energy(terms uint64) Interval {
	powers := s.powers(terms)
	return s.pairs(func(x Interval, i, k int) Interval { return geometric(x, powers[i].Mul(powers[k]), terms) })
}

// powers returns p_i^k of each rate.
func (s Sum) powers(k uint64) []Interval {
	out := make([]Interval, len(s.Rates))
	for i, p := range s.Rates {
		out[i] = p.Power(k)
	}
	return out
}

// pairs returns Σ_{i,k} w_iw_k·t(p_ip_k, i, k) for a symmetric t.
func (s Sum) pairs(t func(x Interval, i, k int) Interval) Interval {
	sum := Whole(0)
	for i := range s.Rates {
		for k := range i + 1 {
			product := s.Weights[i].Mul(s.Weights[k])
			if k < i {
				product = product.Add(product)
			}
			sum = sum.Add(product.Mul(t(s.Rates[i].Mul(s.Rates[k]), i, k)))
		}
	}
	return sum
}

// geometric returns Σ_{j<terms} x^j for 0 ≤ x < 1, or for x = 1, given x^terms.
func geometric(x, power Interval, terms uint64) Interval {
	if x.one() {
		return Whole(terms)
	}
	return Whole(1).Sub(power).Mul(Whole(1).Sub(x).Inverse())
}

// Train returns Σ_{j<age} (Σ_{r<count} x_{j−rs})² for the sequence x, zero before its first term, and s = separation.
// It is Σ_{i,k} w_iw_k·t_ik. With P = p_i^s, Q = p_k^s, z_a = Σ_{r≤a} P^r, y_a = Σ_{r≤a} Q^r and x = p_ip_k, by rows of
// s steps,
//
//	t_ik = Σ_{a<rows} z_ay_a·Σ_{b<s} x^b + rest,    rows = min(⌊age/s⌋, count),
//
// where rest is z_ay_a·Σ_b x^b of an incomplete row, or x^s·z_ay_a·Σ_b x^b of all steps after the last event's row.
// Every t_ik is a sum of positive terms.
func (s Sum) Train(age, separation, count uint64) Interval {
	rows := min(age/separation, count)
	rest := age - rows*separation
	rowPowers, restPowers := s.powers(separation), s.powers(rest)
	return s.pairs(func(x Interval, i, k int) Interval {
		one := pair{p: rowPowers[i], q: rowPowers[k]}.first()
		past, row := one.times(rows), one.pq
		last, ahead := past, row
		if rows < count {
			last, ahead = past.then(one), Whole(1)
		}
		complete := past.both.Mul(geometric(x, row, separation))
		after := geometric(x, restPowers[i].Mul(restPowers[k]), rest)
		return complete.Add(last.z.Mul(last.y).Mul(ahead).Mul(after))
	})
}

// Events returns ⌈steps/separation⌉, the largest number of events in these steps that are separation apart; steps ≥ 1.
func Events(steps, separation uint64) uint64 { return (steps-1)/separation + 1 }

// Energies computes the energy of the first terms of a Sum for many numbers of terms, in float64 and quickly, by the
// geometric sums of Energy,
//
//	Σ_{i,k} g_ik·(1 − p_i^t·p_k^t),    g_ik = w_iw_k/(1 − p_ip_k),
//
// with powers of rates in 62 fraction bits, equal on every CPU. A power has an error of at most t·2⁻⁶², and each
// product rounds once. With Σ|g_ik| ≤ 2²⁸ the error of the result is at most 2⁻²⁰ for up to 2³⁰ terms. For more terms
// all powers are 0 in 62 bits, if rates are below 1 − 10⁻⁶.
type Energies struct {
	rates  []uint64 // rates in units of 2⁻³⁰
	weight []float64
}

// maxGain bounds Σ|g_ik|: beyond it the terms would cancel to fewer than 24 bits of an energy of 1.
const maxGain = 1 << 28

const one62 = 1 << 62

// NewEnergies returns the energies of the Sum with rates poles/2³⁰ below 1 and the given weights. It refuses a sum
// whose terms cancel.
func NewEnergies(poles []uint32, weights []Interval) (*Energies, error) {
	e := &Energies{}
	gain := 0.0
	for i, p := range poles {
		e.rates = append(e.rates, uint64(p))
		for k := range i + 1 {
			rest := Whole(1).Sub(Dyadic(int64(p), -Bits).Mul(Dyadic(int64(poles[k]), -Bits)))
			g := weights[i].Mul(weights[k]).Mul(rest.Inverse())
			if k < i {
				g = g.Add(g)
			}
			x, _ := g.Lo.Float64()
			e.weight = append(e.weight, x)
			gain += max(x, -x)
		}
	}
	if !(gain <= maxGain) {
		return nil, fmt.Errorf("rational: energies of terms that cancel: %g", gain)
	}
	return e, nil
}

// At returns the energy of the given number of first terms.
func (e *Energies) At(terms uint64) float64 {
	var powers [16]uint64
	sum, at := 0.0, 0
	for i, p := range e.rates {
		powers[i] = Power62(uint32(p), terms)
		for k := range i + 1 {
			gone := one62 - Times62(powers[i], powers[k])
			sum += float64(e.weight[at] * float64(float64(gone)*0x1p-62))
			at++
		}
	}
	return sum
}

// Power62 returns (q/2³⁰)^k with 62 fraction bits. Each product is rounded down, so the error is at most k·2⁻⁶².
func Power62(q uint32, k uint64) uint64 {
	power, base := uint64(one62), uint64(q)<<(62-Bits)
	for ; k > 0 && base > 0; k >>= 1 {
		if k&1 == 1 {
			power = Times62(power, base)
		}
		base = Times62(base, base)
	}
	if k > 0 {
		return 0
	}
	return power
}

// Times62 returns ⌊x·y/2⁶²⌋: a product with 62 fraction bits.
func Times62(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi<<2 | lo>>62
}
