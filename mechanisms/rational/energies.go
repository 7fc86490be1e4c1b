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
// with powers of rates in 62 fraction bits, the same on every CPU. Powers are off by at most t·2⁻⁶², and products round
// once each. With Σ|g_ik| ≤ 2²⁸ the result is off by at most 2⁻²⁰ up to 2³⁰ terms. Beyond that no power is left, if
// rates fade in a million terms.
type Energies struct {
	rates  []uint64 // times 2³⁰
	weight []float64
}

// maxGain bounds Σ|g_ik|: beyond it the terms would cancel to fewer than 24 bits of an energy of 1.
const maxGain = 1 << 28

const one62 = 1 << 62

// NewEnergies returns the energies of a sum with the rates Poles/2³⁰ below 1 and the weights. It refuses a sum whose
// terms cancel.
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

// At returns the energy of the first terms.
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
