package buffer

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// FractionBits is the number of fraction bits of poles and residues.
const (
	FractionBits = 30
	unit         = 1 << FractionBits
)

// Reach bounds a draw by Reach·s. noise.Gaussian stays below 29s, because every draw that it makes is decided with 576
// bits.
const Reach = 29

// Plus returns sum + r·c. The high words wrap in two's complement, which gives the right result because the product
// fits.
func Plus(sum, c lattice.Int128, r int64) lattice.Int128 {
	hi, lo := bits.Mul64(c.Lo, uint64(r))
	hi += uint64(c.Hi*r) - c.Lo&uint64(r>>63)
	lo, carry := bits.Add64(sum.Lo, lo, 0)
	hi, _ = bits.Add64(uint64(sum.Hi), hi, carry)
	return lattice.Int128{Hi: int64(hi), Lo: lo}
}

// Decayed returns ⌊q·c/2³⁰⌋ + x, the buffer c after one step with the new draw x.
func Decayed(c lattice.Int128, q uint32, x lattice.Int128) lattice.Int128 {
	hi, lo := bits.Mul64(c.Lo, uint64(q))
	hi += uint64(c.Hi) * uint64(q)
	lo, carry := bits.Add64(lo>>FractionBits|hi<<(64-FractionBits), x.Lo, 0)
	hi, _ = bits.Add64(uint64(int64(hi)>>FractionBits), uint64(x.Hi), carry)
	return lattice.Int128{Hi: int64(hi), Lo: lo}
}

// Within reports whether |x| ≤ limit.
func Within(x, limit lattice.Int128) bool {
	if x.Hi < 0 {
		x = lattice.Int128{Hi: ^x.Hi, Lo: ^x.Lo} // |x| − 1, for negative x
		return x.Hi < limit.Hi || x.Hi == limit.Hi && x.Lo < limit.Lo
	}
	return x.Hi < limit.Hi || x.Hi == limit.Hi && x.Lo <= limit.Lo
}

// errScale means that samplers cannot have the scale.
var errScale = errors.New("scale: belongs to no sampler")

// Limits writes to dst the inclusive bound on the buffer C of each pole. It refuses a scale s at which Σ |r|·C, the sum
// of a carry's products over the poles, could exceed 2¹²⁶ in units of 2^{−f−30}. With |n| ≤ N = ⌈29s⌉ + 1, |C| ≤ (2^f·N
// + 1)/(1 − q), because each step truncates by less than 1.
func Limits(dst []lattice.Int128, poles []uint32, residue func(k int) int64, fraction uint, s noise.Scale) error {
	if s.Mant == 0 || s.Exp > 64 || s.Exp < -1100 {
		return errScale
	}
	n := new(big.Int).SetUint64(s.Mant)
	n.Mul(n, big.NewInt(Reach))
	if s.Exp >= 0 {
		n.Lsh(n, uint(s.Exp))
	} else {
		n.Rsh(n, uint(-s.Exp)).Add(n, big.NewInt(1))
	}
	n.Add(n, big.NewInt(1))
	overflow := n.BitLen() > 62 // draws must fit an int64
	n.Lsh(n, fraction).Add(n, big.NewInt(1)).Lsh(n, FractionBits)
	products := new(big.Int) // Σ |r|·C plus the half that rounding adds
	products.Lsh(big.NewInt(1), FractionBits+fraction)
	for k, q := range poles {
		c := new(big.Int).Quo(n, big.NewInt(unit-int64(q)))
		overflow = overflow || c.BitLen() > 126-FractionBits
		product := new(big.Int).Mul(c, big.NewInt(residue(k)))
		products.Add(products, product.Abs(product))
		dst[k] = lattice.Int128{
			Hi: new(big.Int).Rsh(c, 64).Int64(), Lo: new(big.Int).And(c, new(big.Int).SetUint64(1<<64-1)).Uint64(),
		}
	}
	if overflow || products.BitLen() > 126 {
		return fmt.Errorf("scale %s: too large for the buffers of this filter", s)
	}
	return nil
}
