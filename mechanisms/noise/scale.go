package noise

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Scale is a noise scale Mant·2^Exp in lattice units. It is an exact dyadic, so that a calibration can store it and
// every machine reads the same number. The zero value is not a scale.
type Scale struct {
	Mant uint64 // > 0; ScaleUp makes it odd, but any Mant stands for Mant·2^Exp
	Exp  int
}

// Range of the scales that a sampler accepts. Below the range every draw would be zero. Within it no draw overflows
// int64, because every |x| is below 2^13 (see maxExtension). Near the upper end more draws take the slow path (see
// doc.go).
const (
	minScaleLog = -32 // s ≥ 2^-32
	maxScaleLog = 50  // s < 2^50
)

// errScale states the rule for every sampler's scale.
var errScale = errors.New("noise: scale: not in [2^-32, 2^50)")

// ScaleUp returns the smallest scale that is at least x, which for a float64 is x itself. A privacy proof needs noise
// of at least its σ, so the computation of x must round up BEFORE. It returns the invalid zero Scale unless x is
// positive and finite.
func ScaleUp(x float64) Scale {
	if !(x > 0) || math.IsInf(x, 1) {
		return Scale{}
	}
	b := math.Float64bits(x)
	mant, exp := b&(1<<52-1), int(b>>52)
	if exp == 0 {
		exp = 1 // subnormal numbers have the exponent of the smallest normal one
	} else {
		mant |= 1 << 52
	}
	zeros := bits.TrailingZeros64(mant)
	return Scale{Mant: mant >> zeros, Exp: exp - 1075 + zeros}
}

// Float64 returns the scale rounded up to a float64, for printing and error bounds; +Inf if it is too large.
func (s Scale) Float64() float64 {
	if s.Mant == 0 {
		return 0
	}
	mant, exp := s.Mant, s.Exp
	if extra := bits.Len64(mant) - 53; extra > 0 {
		lost := mant & (1<<extra - 1)
		mant >>= extra
		exp += extra
		if lost != 0 {
			mant++
		}
	}
	x := float64(mant)
	for ; exp > 0 && !math.IsInf(x, 1); exp -= min(exp, 1000) {
		x = float64(x * power(min(exp, 1000)))
	}
	for exp < -1000 && x > 0 { // avoids underflow of scales far below a sampler's
		x = float64(x * power(-1000))
		exp += 1000
	}
	return float64(x * power(min(exp, 0)))
}

// power returns 2^e for |e| ≤ 1000.
func power(e int) float64 { return math.Float64frombits(uint64(e+1023) << 52) }

// String returns the dyadic exactly.
func (s Scale) String() string { return fmt.Sprintf("%d·2^%d", s.Mant, s.Exp) }

// log returns j with 2^j ≤ s < 2^(j+1).
func (s Scale) log() int { return bits.Len64(s.Mant) - 1 + s.Exp }

// check returns errScale unless 2^minScaleLog ≤ s < 2^maxScaleLog.
func (s Scale) check() error {
	if s.Mant == 0 || s.Exp < -1<<20 || s.Exp > 1<<20 || s.log() < minScaleLog || s.log() >= maxScaleLog {
		return errScale
	}
	return nil
}

// over returns s/step, rounded up to 64 bits.
func (s Scale) over(step int64) Scale {
	const more = 128
	x, rest := new(big.Int).Lsh(new(big.Int).SetUint64(s.Mant), more), new(big.Int)
	x.QuoRem(x, big.NewInt(step), rest)
	cut := uint(max(0, x.BitLen()-64))
	y := new(big.Int).Rsh(x, cut)
	if rest.Sign() > 0 || new(big.Int).Lsh(y, cut).Cmp(x) < 0 {
		y.Add(y, big.NewInt(1))
	}
	cut += y.TrailingZeroBits()
	return Scale{Mant: y.Rsh(y, y.TrailingZeroBits()).Uint64(), Exp: s.Exp - more + int(cut)}
}
