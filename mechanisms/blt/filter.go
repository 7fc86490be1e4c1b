package blt

import (
	"errors"
	"fmt"
	"math/big"
)

const (
	// MaxPoles bounds m: four come within 6 % of the optimum for every window up to 2²², and each costs n integers of state.
	MaxPoles = 4

	// fractionBits of poles and residues. 1 − q is about 1/4W of the slowest pole: at W = 2²⁰ its last bit is still below 1 %.
	fractionBits = 30
	unit         = 1 << fractionBits

	// guardBits keep the carry's truncation below 2⁻⁸ of a lattice unit, beside the half unit of rounding.
	guardBits = 8
	maxShift  = 33 // 30 + f fits a word
)

// Filter defines b by dyadics: q_k = Poles[k]/2³⁰, R_k = Residues[k]/2³⁰,
//
//	b_0 = 1,  b_j = Σ_{k<m} R_k·q_k^{j−1} for j ≥ 1.
//
// Shift is f, the fraction bits of the carry's buffers. Entries from Count = m on are zero. The zero Filter is none.
type Filter struct {
	Poles, Residues [MaxPoles]uint32
	Count, Shift    uint8
}

// errShape is a Filter whose b has a wrong sign somewhere.
var errShape = errors.New("blt: filter: not 1 > q_1 > … > q_m > 0 with residues in (0, 1) and ΣR/q < 1")

// Validate checks, in exact arithmetic, the facts from which PROOF.md, Lemma 1 derives all signs: 1 > q_1 > … > q_m > 0, 0 < R_k < 1 and
// ΣR_k/q_k < 1; and that Shift is the one of these dyadics.
func (f Filter) Validate() error {
	if f.Count < 1 || f.Count > MaxPoles {
		return fmt.Errorf("blt: filter: %d poles: not in [1, %d]", f.Count, MaxPoles)
	}
	before, sum := uint32(unit), new(big.Rat)
	for k := range MaxPoles {
		q, r := f.Poles[k], f.Residues[k]
		if k >= int(f.Count) {
			if q != 0 || r != 0 {
				return errors.New("blt: filter: unused pole is not zero")
			}
			continue
		}
		if q == 0 || q >= before || r == 0 || r >= unit {
			return errShape
		}
		before = q
		sum.Add(sum, big.NewRat(int64(r), int64(q)))
	}
	if sum.Cmp(big.NewRat(1, 1)) >= 0 {
		return errShape
	}
	if shift, ok := f.shift(); !ok || shift != f.Shift {
		return fmt.Errorf("blt: filter: shift %d: not that of its poles", f.Shift)
	}
	return nil
}

// Sum returns b(1) = Σ_{j≥0} b_j, exactly: how far the rounding of single draws, ½ each, can move a release.
func (f Filter) Sum() *big.Rat { return new(big.Rat).Add(big.NewRat(1, 1), f.gain()) }

// gain returns ΣR_k/(1 − q_k), exactly.
func (f Filter) gain() *big.Rat {
	sum := new(big.Rat)
	for k := range f.Count {
		sum.Add(sum, big.NewRat(int64(f.Residues[k]), unit-int64(f.Poles[k])))
	}
	return sum
}

// shift returns ⌈log₂ max(1, gain)⌉ + guardBits.
func (f Filter) shift() (shift uint8, ok bool) {
	gain, power := f.gain(), big.NewRat(1, 1)
	for shift = guardBits; shift <= maxShift; shift++ {
		if gain.Cmp(power) <= 0 {
			return shift, true
		}
		power.Add(power, power)
	}
	return 0, false
}

// Slack returns η = ½ + 2^{−f}·ΣR_k/(1 − q_k), exactly: the carry of a step is that far at most from Σ_{j≥1} b_j·n_{t−j}.
func (f Filter) Slack() *big.Rat {
	x := new(big.Rat).Quo(f.gain(), new(big.Rat).SetInt64(1<<f.Shift))
	return x.Add(x, big.NewRat(1, 2))
}
