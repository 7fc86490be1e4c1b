package blt

import (
	"fmt"
	"math/big"

	"oriel/mechanisms/dp"
)

// Response holds what accounting needs of a filter, in directed rounding: with z = 1/x and the partial fractions
//
//	b = 1 + Σ R_k/(z − q_k),    1/b = 1 − Σ S_i/(z − p_i),    S_i = 1/Σ_k R_k/(p_i − q_k)²,
//
// β_0 = 1, β_j = −ΣS_i·p_i^{j−1} for j ≥ 1, and d_j = Σ_{l≤j} β_l = D_0 + Σ_i D_i·p_i^j with D_0 = 1/b(1), D_i = S_i/(1 − p_i). PROOF.md, Lemma 1:
// q_1 > p_1 > q_2 > … > q_m > p_m > 0, S_i > 0, so that β_j ≤ 0 for j ≥ 1, and d is positive, at most 1 and not increasing.
type Response struct {
	filter  Filter
	rates   []interval // 1, p_1 … p_m
	weights []interval // D_0, D_1 … D_m
	slack   interval   // η
}

// NewResponse certifies the filter and takes it apart.
func NewResponse(f Filter) (*Response, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	r := &Response{filter: f, rates: []interval{whole(1)}}
	r.weights = append(r.weights, f.at(whole(1)).inverse())
	for k := range int(f.Count) {
		below := uint32(0)
		if k+1 < int(f.Count) {
			below = f.Poles[k+1]
		}
		p := f.zero(below, f.Poles[k])
		slope := whole(0)
		for l := range f.Count {
			distance := p.sub(dyadic(uint64(f.Poles[l]), -fractionBits))
			slope = slope.add(dyadic(uint64(f.Residues[l]), -fractionBits).mul(distance.mul(distance).inverse()))
		}
		r.rates = append(r.rates, p)
		r.weights = append(r.weights, slope.mul(whole(1).sub(p)).inverse())
	}
	for i, x := range r.weights {
		if x.lo.Sign() <= 0 || r.rates[i].lo.Sign() <= 0 {
			return nil, fmt.Errorf("blt: filter: sign %d of its inverse is not certain", i)
		}
	}
	eta := f.Slack()
	r.slack = interval{down().SetRat(eta), up().SetRat(eta)}
	return r, nil
}

// at returns b as a function of z.
func (f Filter) at(z interval) interval {
	sum := whole(1)
	for k := range f.Count {
		distance := z.sub(dyadic(uint64(f.Poles[k]), -fractionBits))
		sum = sum.add(dyadic(uint64(f.Residues[k]), -fractionBits).mul(distance.inverse()))
	}
	return sum
}

// zeroBits is how far zero goes, bits after the binary point.
const zeroBits = 200

// zero encloses the one z in (low, high)·2⁻³⁰ with b = 0: between two poles, and between 0 and the last, b falls from +∞ or from
// 1 − ΣR/q > 0 to −∞. Bisection by certain signs; once 60 bits are known, Newton's method proposes an end on either side of the zero, and
// only a sign that is certain makes it one.
func (f Filter) zero(low, high uint32) interval {
	lo, hi := dyadic(uint64(low), -fractionBits).lo, dyadic(uint64(high), -fractionBits).hi
	try := func(z *big.Float) (certain bool) {
		if z.Cmp(lo) <= 0 || z.Cmp(hi) >= 0 {
			return true
		}
		value := f.at(interval{z, z})
		if value.lo.Sign() > 0 {
			lo = z
		} else if value.hi.Sign() < 0 {
			hi = z
		}
		return value.lo.Sign()*value.hi.Sign() > 0
	}
	around := func(z *big.Float) {
		step := new(big.Float).SetMantExp(big.NewFloat(1), -zeroBits)
		try(down().Sub(z, step))
		try(down().Add(z, step))
	}
	for bit := range zeroBits - fractionBits {
		middle := down().Add(lo, hi) // exact, or a point beside it
		middle.SetMantExp(middle, -1)
		if bit == 60-fractionBits {
			z := f.newton(middle)
			z.SetMode(big.ToNegativeInf)
			around(z)
		}
		width := new(big.Float).Sub(hi, lo)
		if width.MantExp(nil) <= 2-zeroBits {
			break
		}
		if !try(middle) { // the zero itself, or too near it for a sign
			around(middle)
			break
		}
	}
	return interval{lo, hi}
}

// newton returns a guess of the zero of b near z.
func (f Filter) newton(z *big.Float) *big.Float {
	z = new(big.Float).Copy(z)
	for range 5 {
		value, slope := big.NewFloat(1).SetPrec(precision), new(big.Float).SetPrec(precision)
		for k := range f.Count {
			distance := new(big.Float).Sub(z, dyadic(uint64(f.Poles[k]), -fractionBits).lo)
			if distance.Sign() == 0 {
				return z
			}
			part := new(big.Float).Quo(dyadic(uint64(f.Residues[k]), -fractionBits).lo, distance)
			value.Add(value, part)
			slope.Sub(slope, part.Quo(part, distance))
		}
		z.Sub(z, value.Quo(value, slope))
	}
	return z
}

// Noise returns Σ_{j≥0} b_j², rounded up: the variance of a release, in units of s², that the noise approaches from below.
func (r *Response) Noise() float64 { return dp.RoundUp(r.noise().hi) }

func (r *Response) noise() interval {
	sum := whole(1)
	f := r.filter
	for k := range f.Count {
		for l := range f.Count {
			rest := whole(1).sub(dyadic(uint64(f.Poles[k]), -fractionBits).mul(dyadic(uint64(f.Poles[l]), -fractionBits)))
			sum = sum.add(dyadic(uint64(f.Residues[k])*uint64(f.Residues[l]), -2*fractionBits).mul(rest.inverse()))
		}
	}
	return sum
}

// Sensitivity returns Σ_{j<age} d_j², rounded up: µ(age)²·s²/Δ² but for η.
func (r *Response) Sensitivity(age uint64) float64 { return dp.RoundUp(r.energy(r.weights, age).hi) }

// energy returns Σ_{j<terms} (Σ_i w_i·p_i^j)², by geometric sums.
func (r *Response) energy(w []interval, terms uint64) interval {
	sum := whole(0)
	for i := range w {
		for k := range i + 1 {
			product := w[i].mul(w[k])
			if k < i {
				product = product.add(product)
			}
			sum = sum.add(product.mul(geometric(r.rates[i].mul(r.rates[k]), terms, i == 0)))
		}
	}
	return sum
}

// geometric returns Σ_{j<terms} x^j for 0 < x < 1, or for x = 1.
func geometric(x interval, terms uint64, one bool) interval {
	if one {
		return whole(terms)
	}
	return whole(1).sub(x.power(terms)).mul(whole(1).sub(x).inverse())
}

// shift returns √(Σ_{j<age} (d_j·Δ + 2η√n·Σ_{l<j}|β_l|)²), the distance in lattice units of PROOF.md, Theorem 1.
//
// As coded: Σ_{l<j}|β_l| is 0 for j = 0 and 2 − d_{j−1} after, so with ρ = 2η√n the terms are Δ and, for j ≥ 1, with i = j−1,
//
//	d_jΔ + ρ(2 − d_{j−1}) = (D_0(Δ − ρ) + 2ρ) + Σ_i D_i(p_iΔ − ρ)·p_i^{j−1}.
func (r *Response) shift(delta int64, n int, age uint64) interval {
	if delta < 0 || n < 1 {
		panic(fmt.Sprintf("BUG: blt: sensitivity %d, dimension %d: not a mechanism", delta, n))
	}
	if age == 0 {
		return whole(0)
	}
	step := whole(uint64(delta))
	rho := r.slack.add(r.slack).mul(whole(uint64(n)).root())
	w := make([]interval, len(r.weights))
	for i, d := range r.weights {
		w[i] = d.mul(r.rates[i].mul(step).sub(rho))
	}
	w[0] = w[0].add(rho.add(rho))
	square := step.mul(step)
	if age > 1 {
		square = square.add(r.energy(w, age-1))
	}
	return interval{square.lo, square.hi}.root()
}
