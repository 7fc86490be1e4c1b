package decay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"oriel/mechanisms/rational"
)

const (
	// MaxPoles bounds m. Six poles come within 0.3 % of the optimum at MaxMemory, and each costs n integers of state.
	MaxPoles = 6

	// Limits of H, in steps. The residue of the slowest pole falls like H^(−3/2). At H = 2²⁰ it is still some units of
	// 2⁻³⁰, but at 2²⁴ only one.
	MinMemory = 2
	MaxMemory = 1 << 20

	// Shift is f, the fraction bits of the carry's buffers. Because ΣR_k/(1 − q_k) < 1, the carry's truncation is less
	// than 2⁻⁸ of a lattice unit.
	Shift = 8

	// periodLog is log₂(P/H), rounded up. The variance exceeds its limit only for less than H steps after a reset, so
	// its average exceeds the limit by less than a thousandth.
	periodLog = 10

	unit = rational.Unit
)

// Filter defines e by dyadics: q_k = Poles[k]/2³⁰, R_k = Residues[k]/2³⁰, both positive,
//
//	e_0 = 1,  e_j = −Σ_{k<m} R_k·q_k^{j−1} for j ≥ 1.
//
// Memory is H, which determines the γ that the filter was fitted for. Entries from Count = m on are zero. The zero
// Filter is not valid.
type Filter struct {
	Memory          uint64
	Count           uint8
	Poles, Residues [MaxPoles]uint32
}

// Decay returns Γ of γ = Γ/2³⁰, 1 − 1/memory rounded to nearest, for a memory within limits.
func Decay(memory uint64) uint32 { return unit - uint32((unit+memory/2)/memory) }

// Period returns P, the steps between two resets: the least power of two that is at least 2¹⁰·memory.
func Period(memory uint64) uint64 { return 1 << (bits.Len64(memory-1) + periodLog) }

// Decay returns Γ of the filter's memory.
func (f Filter) Decay() uint32 { return Decay(f.Memory) }

// Period returns P of the filter's memory.
func (f Filter) Period() uint64 { return Period(f.Memory) }

// errShape means that the fields do not form a filter.
var errShape = errors.New("decay: filter: not 1 > q_1 > … > q_m > 0, all other than gamma, with positive residues")

// errSigns means that the filter's response is not as PROOF.md, Lemma 1 requires, or cannot be certified.
var errSigns = errors.New("decay: filter: 1 − ΣR_k/(1 − q_k) is not positive")

// Validate checks that the filter satisfies PROOF.md, Lemma 1: 1 > q_1 > … > q_m > 0, R_k > 0 and 1 − ΣR_k/(1 − q_k) >
// 0, in exact arithmetic; and that γ is not a pole.
func (f Filter) Validate() error {
	_, err := newResponse(f)
	return err
}

// shape checks each field separately.
func (f Filter) shape() error {
	if err := checkMemory(f.Memory); err != nil {
		return err
	}
	if f.Count < 1 || f.Count > MaxPoles {
		return fmt.Errorf("decay: filter: %d poles: not in [1, %d]", f.Count, MaxPoles)
	}
	before := uint32(unit)
	for k := range MaxPoles {
		q, r := f.Poles[k], f.Residues[k]
		if k >= int(f.Count) {
			if q != 0 || r != 0 {
				return errors.New("decay: filter: unused pole is not zero")
			}
			continue
		}
		if q == 0 || q >= before || r == 0 || q == f.Decay() {
			return errShape
		}
		before = q
	}
	if f.gain().Cmp(big.NewRat(1, 1)) >= 0 {
		return errSigns
	}
	return nil
}

func checkMemory(memory uint64) error {
	if memory < MinMemory || memory > MaxMemory {
		return fmt.Errorf("decay: memory %d: not in [%d, %d]", memory, MinMemory, MaxMemory)
	}
	return nil
}

// gain returns ΣR_k/(1 − q_k) = Σ_{j≥1} |e_j|, exactly.
func (f Filter) gain() *big.Rat {
	sum := new(big.Rat)
	for k := range f.Count {
		sum.Add(sum, big.NewRat(int64(f.Residues[k]), unit-int64(f.Poles[k])))
	}
	return sum
}

// Slack returns η = ½ + 2^−Shift·ΣR_k/(1 − q_k), exactly: the largest distance of a step's carry from Σ_{j≥1}
// e_j·n_{t−j}.
func (f Filter) Slack() *big.Rat {
	x := f.gain()
	return x.Mul(x, big.NewRat(1, 1<<Shift)).Add(x, big.NewRat(1, 2))
}

// fraction returns e as a rational function of z = 1/x.
func (f Filter) fraction() rational.Fraction {
	x := rational.Fraction{Poles: f.Poles[:f.Count]}
	for _, r := range f.Residues[:f.Count] {
		x.Residues = append(x.Residues, -int64(r))
	}
	return x
}

// A Filter is stored little-endian as H u64, m u8, and m pairs of pole and residue, u32 each.
const (
	filterHead = 8 + 1
	pairLen    = 4 + 4
)

// AppendBinary appends the encoding of a valid filter. Two filters are equal exactly when their encodings are.
func (f Filter) AppendBinary(dst []byte) []byte {
	dst = append(binary.LittleEndian.AppendUint64(dst, f.Memory), f.Count)
	for k := range f.Count {
		dst = binary.LittleEndian.AppendUint32(dst, f.Poles[k])
		dst = binary.LittleEndian.AppendUint32(dst, f.Residues[k])
	}
	return dst
}

// ParseFilter is the inverse of AppendBinary and refuses any other bytes.
func ParseFilter(b []byte) (f Filter, err error) {
	if len(b) < filterHead || b[8] > MaxPoles || len(b) != filterHead+pairLen*int(b[8]) {
		return Filter{}, fmt.Errorf("decay: filter: %d bytes: not the length of 1 to %d poles", len(b), MaxPoles)
	}
	f = Filter{Memory: binary.LittleEndian.Uint64(b), Count: b[8]}
	for k, pair := 0, b[filterHead:]; len(pair) > 0; k, pair = k+1, pair[pairLen:] {
		f.Poles[k], f.Residues[k] = binary.LittleEndian.Uint32(pair), binary.LittleEndian.Uint32(pair[4:])
	}
	if err := f.Validate(); err != nil {
		return Filter{}, err
	}
	return f, nil
}
