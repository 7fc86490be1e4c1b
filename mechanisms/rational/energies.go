package rational

import (
	"fmt"
	"math/bits"
)

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
