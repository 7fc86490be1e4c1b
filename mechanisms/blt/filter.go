package blt

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"oriel/mechanisms/rational"
)

const (
	// MaxPoles bounds m. Four poles come within 6 % of the optimum for every window up to 2²². Each pole costs n
	// integers of state.
	MaxPoles = 4

	// fractionBits is the precision of poles and residues. The slowest pole has 1 − q ≈ 1/(4W). At W = 2²⁰ the last bit
	// of the pole is still below 1 % of 1 − q.
	fractionBits = rational.Bits
	unit         = 1 << fractionBits

	// guardBits keep the carry's truncation error below 2⁻⁸ of a lattice unit, in addition to the half unit of
	// rounding.
	guardBits = 8
	maxShift  = 33 // because 30 + shift bits must fit 64
)

// Filter defines b by dyadics: q_k = Poles[k]/2³⁰, R_k = Residues[k]/2³⁰,
//
//	b_0 = 1,  b_j = Σ_{k<m} R_k·q_k^{j−1} for j ≥ 1.
//
// Shift is f, the fraction bits of the carry's buffers. Entries from Count = m on are zero. The zero Filter is not
// valid.
type Filter struct {
	Poles    [MaxPoles]uint32
	Residues [MaxPoles]int32
	Count    uint8
	Shift    uint8
}

// errShape means that the fields do not form a filter.
var errShape = errors.New("blt: filter: not 1 > q_1 > … > q_m > 0 with residues other than 0 and above −2")

// errSigns means that the filter's response is not as PROOF.md, Lemma 1 requires, or cannot be certified.
var errSigns = errors.New("blt: filter: the inverse is not certain to have m rates in (0, 1), and partial sums that fall, rise at most once, and stay in (0, 1]")

// Validate checks that the filter satisfies PROOF.md, Lemma 1: 1 > q_1 > … > q_m > 0. Residues must be either all
// positive with ΣR_k/q_k < 1, in exact arithmetic, or of both signs with the certificates of NewResponse. Shift must
// equal f.shift().
func (f Filter) Validate() error {
	if err := f.shape(); err != nil {
		return err
	}
	sum := new(big.Rat)
	for k := range f.Count {
		if f.Residues[k] < 0 {
			_, err := newResponse(f)
			return err
		}
		sum.Add(sum, big.NewRat(int64(f.Residues[k]), int64(f.Poles[k])))
	}
	if sum.Cmp(big.NewRat(1, 1)) >= 0 {
		return errSigns
	}
	return nil
}

// shape checks each field separately.
func (f Filter) shape() error {
	if f.Count < 1 || f.Count > MaxPoles {
		return fmt.Errorf("blt: filter: %d poles: not in [1, %d]", f.Count, MaxPoles)
	}
	before := uint32(unit)
	for k := range MaxPoles {
		q, r := f.Poles[k], f.Residues[k]
		if k >= int(f.Count) {
			if q != 0 || r != 0 {
				return errors.New("blt: filter: unused pole is not zero")
			}
			continue
		}
		if q == 0 || q >= before || r == 0 || r == math.MinInt32 {
			return errShape
		}
		before = q
	}
	if shift, ok := f.shift(); !ok || shift != f.Shift {
		return fmt.Errorf("blt: filter: shift %d: does not belong to its poles", f.Shift)
	}
	return nil
}

// Sum returns 1 + Σ|R_k|/(1 − q_k) ≥ Σ_{j≥0} |b_j|, exactly. Because each draw is rounded by at most ½, rounding moves
// a release by at most half of Sum.
func (f Filter) Sum() *big.Rat { return new(big.Rat).Add(big.NewRat(1, 1), f.gain()) }

// gain returns Σ|R_k|/(1 − q_k), exactly.
func (f Filter) gain() *big.Rat {
	sum := new(big.Rat)
	for k := range f.Count {
		part := big.NewRat(int64(f.Residues[k]), unit-int64(f.Poles[k]))
		sum.Add(sum, part.Abs(part))
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

// Slack returns η = ½ + 2^{−f}·Σ|R_k|/(1 − q_k), exactly: the largest distance of a step's carry from Σ_{j≥1}
// b_j·n_{t−j}.
func (f Filter) Slack() *big.Rat {
	x := new(big.Rat).Quo(f.gain(), new(big.Rat).SetInt64(1<<f.Shift))
	return x.Add(x, big.NewRat(1, 2))
}
