package blt

import (
	"fmt"
	"slices"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/rational"
)

// Response holds the quantities that accounting needs from a filter, in directed rounding. With z = 1/x and the partial
// fractions
//
//	b = 1 + Σ R_k/(z − q_k),    1/b = 1 − Σ S_i/(z − p_i),    S_i = 1/Σ_k R_k/(p_i − q_k)²,
//
// β_0 = 1, β_j = −ΣS_i·p_i^{j−1} for j ≥ 1, and d_j = Σ_{l≤j} β_l = D_0 + Σ_i D_i·p_i^j with D_0 = 1/b(1), D_i =
// S_i/(1−p_i). PROOF.md, Lemma 1: 1 > p_1 > … > p_m > 0; d falls from d_0 = 1 to d_T > 0, and from T on rises to D_0 ≤
// 1. If all S_i > 0, d falls for ever (T = ∞).
type Response struct {
	filter   Filter
	d        rational.Sum      // d as a sum of geometric terms: rates 1, p_1 … p_m and weights D_0, D_1 … D_m
	majorant rational.Sum      // d with D_0 + E instead of D_0: an upper bound of max_{l≥j} d_l
	rise     rational.Interval // E = D_0 − d_T, or 0
	slack    rational.Interval // η
}

// NewResponse certifies the filter and computes its partial fractions.
func NewResponse(f Filter) (*Response, error) {
	if err := f.shape(); err != nil {
		return nil, err
	}
	return newResponse(f)
}

// newResponse is NewResponse for a filter whose shape is already checked.
func newResponse(f Filter) (*Response, error) {
	one := rational.Whole(1)
	sum, ok := f.fraction().At(one)
	poles, residues, found := f.fraction().Inverse()
	if !ok || !found || sum.Lo.Cmp(one.Hi) < 0 {
		return nil, errSigns
	}
	r := &Response{filter: f, rise: rational.Whole(0)}
	r.d = rational.Sum{Rates: append([]rational.Interval{one}, poles...), Weights: []rational.Interval{sum.Inverse()}}
	for i, t := range residues { // T_i = −S_i, the residue at pole i
		r.d.Weights = append(r.d.Weights, t.Mul(poles[i].Sub(one).Inverse()))
	}
	if err := r.certify(); err != nil {
		return nil, err
	}
	r.majorant = rational.Sum{Rates: r.d.Rates, Weights: slices.Clone(r.d.Weights)}
	r.majorant.Weights[0] = r.d.Weights[0].Add(r.rise)
	r.slack = rational.Ratio(f.Slack())
	return r, nil
}

// certify checks the signs of PROOF.md, Lemma 1 and finds E. If slow rates have negative weights and all others
// positive weights, choose a rate between them. Divided by its j-th power, −β_j falls in j, so β changes sign only
// once, at T.
func (r *Response) certify() error {
	negative := 0
	for i, w := range r.d.Weights[1:] {
		if w.Sign() < 0 && i == negative {
			negative++
		} else if w.Sign() < 0 {
			return errSigns
		}
	}
	if negative == 0 {
		return nil
	}
	top := uint64(1)
	for ; r.fall(top).Sign() > 0; top *= 2 {
		if top > maxTrough {
			return errSigns
		}
	}
	trough := top / 2 // binary search: T is in [top/2, top)
	for step := trough / 2; step > 0; step /= 2 {
		if r.fall(trough+step).Sign() > 0 {
			trough += step
		}
	}
	if r.fall(trough+1).Sign() >= 0 {
		return errSigns
	}
	bottom := r.d.At(trough)
	if bottom.Sign() <= 0 {
		return errSigns
	}
	r.rise = r.d.Weights[0].Sub(bottom)
	return nil
}

// maxTrough bounds T: with rates of 30 bits the sign changes earlier.
const maxTrough = 1 << 40

// fall returns −β_j = d_{j−1} − d_j for j ≥ 1.
func (r *Response) fall(j uint64) rational.Interval {
	sum := rational.Whole(0)
	for i, w := range r.d.Weights[1:] {
		p := r.d.Rates[i+1]
		sum = sum.Add(w.Mul(rational.Whole(1).Sub(p)).Mul(p.Power(j - 1)))
	}
	return sum
}

// fraction returns b as a rational function of z.
func (f Filter) fraction() rational.Fraction {
	x := rational.Fraction{Poles: f.Poles[:f.Count]}
	for _, r := range f.Residues[:f.Count] {
		x.Residues = append(x.Residues, int64(r))
	}
	return x
}

// Noise returns Σ_{j≥0} b_j², rounded up: the limit of a release's variance in units of s², approached from below.
func (r *Response) Noise() float64 { return dp.RoundUp(r.noise().Hi) }

func (r *Response) noise() rational.Interval { return r.filter.fraction().Energy() }

// Sensitivity returns Σ_{j<age} d_j², rounded up: µ(age)²·s²/Δ² without η.
func (r *Response) Sensitivity(age uint64) float64 { return dp.RoundUp(r.d.Energy(age).Hi) }

// Variance returns Σb²·Σ_{j<window}d², rounded up: the variance of a release in units of (Δ/µ(window))², without η.
func (r *Response) Variance(window uint64) float64 {
	return dp.RoundUp(r.noise().Mul(r.d.Energy(window)).Hi)
}

// Growth returns µ(windows·window)/µ(window), rounded up, without η.
func (r *Response) Growth(window, windows uint64) float64 {
	one := r.d.Energy(window).Inverse()
	return dp.RoundUp(r.d.Energy(windows * window).Mul(one).Root().Hi)
}

// shift returns √(Σ_{j<age} (d_j·Δ + 2η√n·B_j)²), the distance of PROOF.md, Theorem 1 in lattice units, with B_j ≥
// Σ_{l<j}|β_l|.
//
// In the code step is Δ. B_0 is 0 and B_j is 2 + 2E − d_{j−1} for j ≥ 1. With ρ = 2η√n the terms are Δ and, for j ≥ 1
// with i = j−1,
//
//	d_jΔ + ρ(2 + 2E − d_{j−1}) = (D_0(Δ − ρ) + 2ρ(1 + E)) + Σ_i D_i(p_iΔ − ρ)·p_i^{j−1}.
func (r *Response) shift(step rational.Interval, n int, age uint64) rational.Interval {
	if n < 1 {
		panic(fmt.Sprintf("BUG: blt: dimension %d: not a mechanism", n))
	}
	if age == 0 {
		return rational.Whole(0)
	}
	rho := r.slack.Add(r.slack).Mul(rational.Whole(uint64(n)).Root())
	w := make([]rational.Interval, len(r.d.Weights))
	for i, d := range r.d.Weights {
		w[i] = d.Mul(r.d.Rates[i].Mul(step).Sub(rho))
	}
	w[0] = w[0].Add(rho.Add(rho).Mul(rational.Whole(1).Add(r.rise)))
	square := step.Mul(step)
	if age > 1 {
		square = square.Add(rational.Sum{Rates: r.d.Rates, Weights: w}.Energy(age - 1))
	}
	return square.Root()
}
