package decay

import (
	"fmt"

	"oriel/mechanisms/rational"
)

// response holds the quantities that accounting needs from a filter, in directed rounding. With z = 1/x and the partial
// fractions
//
//	e = 1 − Σ R_k/(z − q_k),    c = 1/e = 1 + Σ T_i/(z − p_i),    b = e/(1 − γx) = e·z/(z − γ),
//
// c_j = κ·0^j + ΣC_i·p_i^j with C_i = T_i/p_i and κ = 1/e(z=0) = 1 − ΣC_i, and
//
//	B_j = Σ_{l<j} c_l = c(1) − κ·0^j − ΣD_i·p_i^j,    D_i = C_i/(1 − p_i),    c(1) = 1/e(z=1) = κ + ΣD_i.
//
// PROOF.md, Lemma 1: 1 > p_1 > q_1 > p_2 > … > q_m > 0, all T_i and κ are positive, so c falls from c_0 = 1 to 0.
type response struct {
	b, c   rational.Sum
	sums   rational.Sum      // B_j
	decay  rational.Interval // γ
	slack  rational.Interval // η
	period uint64
}

// newResponse checks the filter and computes its partial fractions.
func newResponse(f Filter) (*response, error) {
	if err := f.shape(); err != nil {
		return nil, err
	}
	e, one, zero := f.fraction(), rational.Whole(1), rational.Whole(0)
	poles, residues, ok := e.Inverse()
	last, known := e.At(one)
	start, finite := e.At(zero)
	if !ok || !known || !finite {
		return nil, errSigns
	}
	r := &response{
		decay: rational.Dyadic(int64(f.Decay()), -rational.Bits), slack: rational.Ratio(f.Slack()),
		period: f.Period(),
	}
	r.b = noiseOf(f, r.decay)
	kappa := start.Inverse()
	r.c.Add(zero, kappa)
	r.sums.Add(one, last.Inverse())
	r.sums.Add(zero, zero.Sub(kappa))
	for i, p := range poles {
		c := residues[i].Mul(p.Inverse())
		if c.Sign() <= 0 {
			return nil, errSigns
		}
		r.c.Add(p, c)
		r.sums.Add(p, c.Mul(p.Sub(one).Inverse())) // adds −D_i at rate p_i
	}
	return r, nil
}

// noiseOf returns b_j = e(z=γ)·γ^j + Σ R_k/(γ − q_k)·q_k^j, which is Σ_{i≤j} γ^{j−i}e_i by geometric sums.
func noiseOf(f Filter, decay rational.Interval) (b rational.Sum) {
	constant := rational.Whole(1)
	for k := range f.Count {
		q := rational.Dyadic(int64(f.Poles[k]), -rational.Bits)
		w := rational.Dyadic(int64(f.Residues[k]), -rational.Bits).Mul(decay.Sub(q).Inverse())
		constant = constant.Sub(w)
		b.Add(q, w)
	}
	b.Add(decay, constant)
	return b
}

// rounding returns ρ = 2η√n, the largest ℓ2 distance between the carries of two histories with equal noise.
func (r *response) rounding(n int) rational.Interval {
	if n < 1 {
		panic(fmt.Sprintf("BUG: decay: dimension %d: not a mechanism", n))
	}
	return r.slack.Add(r.slack).Mul(rational.Whole(uint64(n)).Root())
}

// shift returns √(Σ_{j<age} (c_jΔ + ρB_j)²) for age ≤ P, the distance in lattice units of PROOF.md, Theorem 1.
func (r *response) shift(delta rational.Interval, n int, age uint64) rational.Interval {
	if age == 0 {
		return rational.Whole(0)
	}
	rho := r.rounding(n)
	w := []rational.Interval{r.sums.Weights[0].Mul(rho)}
	for i, c := range r.c.Weights {
		w = append(w, c.Mul(delta).Add(r.sums.Weights[1+i].Mul(rho)))
	}
	return rational.Sum{Rates: r.sums.Rates, Weights: w}.Energy(age).Root()
}

// blocks returns the largest Σ_t B²_{j(t)} over consecutive steps, where j(t) counts the steps since the first event of
// t's block. Because B_j rises with j, the sum is largest if the steps are in as few blocks as possible, all but one of
// them complete.
func (r *response) blocks(steps uint64) rational.Interval {
	whole := r.sums.Energy(r.period).Mul(rational.Whole(steps / r.period))
	return whole.Add(r.sums.Energy(steps % r.period))
}

// userShift returns, in lattice units, the ℓ2 distance by which count ≥ 1 events of one user move the means of the
// noises of age steps. The events are at the worst steps, 0, s, 2s, … of one block (PROOF.md, Theorem 4). With ρ =
// 2η√n, k' the number of events within age steps, and c_j = 0 for j < 0,
//
//	√( Δ²·Σ_{j<age} (Σ_{r<count} c_{j−rs})² + 2Δρ·k'·B²_{min(age, P)} + ρ²·ΣB² ).
func (r *response) userShift(delta rational.Interval, n int, age, separation, count uint64) rational.Interval {
	if age == 0 {
		return rational.Whole(0)
	}
	rho, growth := r.rounding(n), r.sums.At(min(age, r.period))
	events := rational.Whole(min(count, rational.Events(age, separation)))
	cross := delta.Mul(rho).Mul(events).Mul(growth).Mul(growth)
	train := delta.Mul(delta).Mul(r.c.Train(age, separation, count))
	return train.Add(cross).Add(cross).Add(rho.Mul(rho).Mul(r.blocks(age))).Root()
}
