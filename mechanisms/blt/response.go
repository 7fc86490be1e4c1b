package blt

import (
	"fmt"
	"slices"

	"oriel/mechanisms/dp"
)

// Response holds what accounting needs of a filter, in directed rounding: with z = 1/x and the partial fractions
//
//	b = 1 + Σ R_k/(z − q_k),    1/b = 1 − Σ S_i/(z − p_i),    S_i = 1/Σ_k R_k/(p_i − q_k)²,
//
// β_0 = 1, β_j = −ΣS_i·p_i^{j−1} for j ≥ 1, and d_j = Σ_{l≤j} β_l = D_0 + Σ_i D_i·p_i^j with D_0 = 1/b(1), D_i = S_i/(1−p_i). PROOF.md, Lemma 1:
// 1 > p_1 > … > p_m > 0; d falls from d_0 = 1 to d_T > 0, for ever (T = ∞) when all S_i > 0, and from T on rises to D_0 ≤ 1.
type Response struct {
	filter   Filter
	rates    []interval // 1, p_1 … p_m
	weights  []interval // D_0, D_1 … D_m
	majorant []interval // weights with D_0 + E in the place of D_0: of a sequence above max_{l≥j} d_l
	rise     interval   // E = D_0 − d_T, or 0
	slack    interval   // η
}

// NewResponse certifies the filter and takes it apart.
func NewResponse(f Filter) (*Response, error) {
	if err := f.shape(); err != nil {
		return nil, err
	}
	return newResponse(f)
}

// newResponse is NewResponse of a filter whose shape is checked.
func newResponse(f Filter) (*Response, error) {
	zeros, ok := f.zeros()
	sum := f.at(whole(1))
	if !ok || sum.lo.Cmp(whole(1).hi) < 0 {
		return nil, errSigns
	}
	r := &Response{filter: f, rates: []interval{whole(1)}, weights: []interval{sum.inverse()}, rise: whole(0)}
	for _, p := range zeros {
		slope := whole(0)
		for l := range f.Count {
			distance := p.sub(dyadic(int64(f.Poles[l]), -fractionBits))
			if distance.sign() == 0 {
				return nil, errSigns
			}
			slope = slope.add(dyadic(int64(f.Residues[l]), -fractionBits).mul(distance.mul(distance).inverse()))
		}
		if slope.sign() == 0 {
			return nil, errSigns
		}
		r.rates = append(r.rates, p)
		r.weights = append(r.weights, slope.mul(whole(1).sub(p)).inverse())
	}
	if err := r.certify(); err != nil {
		return nil, err
	}
	r.majorant = slices.Clone(r.weights)
	r.majorant[0] = r.weights[0].add(r.rise)
	eta := f.Slack()
	r.slack = interval{down().SetRat(eta), up().SetRat(eta)}
	return r, nil
}

// certify checks the signs of PROOF.md, Lemma 1 and finds E. When slow rates have negative weights and all others positive ones, −β_j over
// a power between the two kinds falls in j: β changes sign once, at T.
func (r *Response) certify() error {
	negative := 0
	for i, w := range r.weights[1:] {
		if w.sign() < 0 && i == negative {
			negative++
		} else if w.sign() < 0 {
			return errSigns
		}
	}
	if negative == 0 {
		return nil
	}
	top := uint64(1)
	for ; r.fall(top).sign() > 0; top *= 2 {
		if top > farthest {
			return errSigns
		}
	}
	trough := top / 2 // T is in [top/2, top)
	for step := trough / 2; step > 0; step /= 2 {
		if r.fall(trough+step).sign() > 0 {
			trough += step
		}
	}
	if r.fall(trough+1).sign() >= 0 {
		return errSigns
	}
	bottom := r.at(trough)
	if bottom.sign() <= 0 {
		return errSigns
	}
	r.rise = r.weights[0].sub(bottom)
	return nil
}

// farthest bounds T: rates of 30 bits have their say before.
const farthest = 1 << 40

// at returns d_j.
func (r *Response) at(j uint64) interval {
	sum := whole(0)
	for i, w := range r.weights {
		sum = sum.add(w.mul(r.rates[i].power(j)))
	}
	return sum
}

// fall returns −β_j = d_{j−1} − d_j for j ≥ 1.
func (r *Response) fall(j uint64) interval {
	sum := whole(0)
	for i, w := range r.weights[1:] {
		p := r.rates[i+1]
		sum = sum.add(w.mul(whole(1).sub(p)).mul(p.power(j - 1)))
	}
	return sum
}

// at returns b as a function of z.
func (f Filter) at(z interval) interval {
	sum := whole(1)
	for k := range f.Count {
		distance := z.sub(dyadic(int64(f.Poles[k]), -fractionBits))
		sum = sum.add(dyadic(int64(f.Residues[k]), -fractionBits).mul(distance.inverse()))
	}
	return sum
}

// Noise returns Σ_{j≥0} b_j², rounded up: the variance of a release, in units of s², that the noise approaches from below.
func (r *Response) Noise() float64 { return dp.RoundUp(r.noise().hi) }

func (r *Response) noise() interval {
	sum := whole(1)
	f := r.filter
	for k := range f.Count {
		for l := range f.Count {
			rest := whole(1).sub(dyadic(int64(f.Poles[k]), -fractionBits).mul(dyadic(int64(f.Poles[l]), -fractionBits)))
			sum = sum.add(dyadic(int64(f.Residues[k])*int64(f.Residues[l]), -2*fractionBits).mul(rest.inverse()))
		}
	}
	return sum
}

// Sensitivity returns Σ_{j<age} d_j², rounded up: µ(age)²·s²/Δ² but for η.
func (r *Response) Sensitivity(age uint64) float64 { return dp.RoundUp(r.energy(r.weights, age).hi) }

// Variance returns Σb²·Σ_{j<window}d², rounded up: the variance of a release in units of (Δ/µ(window))² but for η.
func (r *Response) Variance(window uint64) float64 {
	return dp.RoundUp(r.noise().mul(r.energy(r.weights, window)).hi)
}

// Growth returns µ(windows·window)/µ(window), rounded up, but for η.
func (r *Response) Growth(window, windows uint64) float64 {
	one := r.energy(r.weights, window).inverse()
	return dp.RoundUp(r.energy(r.weights, windows*window).mul(one).root().hi)
}

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

// shift returns √(Σ_{j<age} (d_j·Δ + 2η√n·B_j)²), the distance in lattice units of PROOF.md, Theorem 1, with B_j ≥ Σ_{l<j}|β_l|.
//
// As coded: B_j is 0 for j = 0 and 2 + 2E − d_{j−1} after, so with ρ = 2η√n the terms are Δ and, for j ≥ 1, with i = j−1,
//
//	d_jΔ + ρ(2 + 2E − d_{j−1}) = (D_0(Δ − ρ) + 2ρ(1 + E)) + Σ_i D_i(p_iΔ − ρ)·p_i^{j−1}.
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
	w[0] = w[0].add(rho.add(rho).mul(whole(1).add(r.rise)))
	square := step.mul(step)
	if age > 1 {
		square = square.add(r.energy(w, age-1))
	}
	return interval{square.lo, square.hi}.root()
}
