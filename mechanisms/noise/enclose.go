package noise

import (
	"math/big"

	"oriel/mechanisms/noise/internal/tables"
)

// maxExtension is how many words may extend one word. A draw that needs more has probability below 2^-400, which means
// that the keystream is broken. With this limit every |x| is below 29 (Gaussian) and 400 (Laplace).
const maxExtension = 8

// digits holds the known digits of one folded word: v lies in [value, value+1]·2^-bits, v ≤ 1/2. Extending it never
// changes the infinite number that it stands for.
type digits struct {
	value *big.Int
	bits  uint
	mask  uint64 // fold's mask for the words that follow
	next  func() uint64
}

// newDigits starts from a word; next must return the words that follow it.
func newDigits(word uint64, next func() uint64) *digits {
	a, mask := fold(word)
	return &digits{value: new(big.Int).SetUint64(a), bits: 64, mask: mask, next: next}
}

// negative reports whether the draw is negative: a word below 1/2 is in the lower tail.
func (d *digits) negative() bool { return d.mask == 0 }

// extend appends words until at least the given number of bits is known and the value is not zero.
func (d *digits) extend(bits uint) {
	for d.bits < bits || d.value.Sign() == 0 {
		if d.bits >= 64*(1+maxExtension) {
			panic("BUG: noise: keystream leaves a draw undecided")
		}
		d.value.Lsh(d.value, 64)
		d.value.Or(d.value, new(big.Int).SetUint64(d.next()^d.mask))
		d.bits += 64
	}
}

// interval encloses x: lo·2^-p ≤ x ≤ hi·2^-p, lo ≥ 0.
type interval struct {
	lo, hi *big.Int
	p      uint
}

// enclose returns an interval around x(v) about as wide as the unknown rest of v. guess is an earlier enclosure from
// fewer digits, or empty. It affects only the running time, because both ends are checked against the tail.
func (c *curve) enclose(d *digits, guess interval) interval {
	p := d.bits + 64
	one := big.NewInt(1)
	bottom := new(big.Int).Lsh(d.value, 64) // low end of the cell, with p fraction bits
	top := new(big.Int).Lsh(one, 64)
	top.Add(top, bottom)
	middle := new(big.Int).Lsh(one, 63)
	middle.Add(middle, bottom)

	// Newton's method: from a start left of the root the iterates rise to the root, because the tail is convex. (From 0
	// it takes about x² steps, then a few more.)
	x := new(big.Int)
	if guess.lo != nil {
		x.Rsh(x.Lsh(guess.lo, p), guess.p)
	}
	var width *big.Int
	for {
		survival, density := c.tail(x, p)
		width = new(big.Int).Lsh(one, 64+p)
		width.Add(width.Quo(width, density), one)
		step := new(big.Int).Sub(survival, middle)
		step.Quo(step.Lsh(step, p), density)
		if x.Add(x, step); x.Sign() < 0 {
			x.SetUint64(0)
		}
		if step.CmpAbs(width) <= 0 {
			break
		}
	}
	// F(−lo) ≥ every v of the cell ≥ F(−hi), with a margin of two units for the error of tail.
	top.Add(top, big.NewInt(2))
	bottom.Sub(bottom, big.NewInt(2))
	for {
		lo, hi := new(big.Int).Sub(x, width), new(big.Int).Add(x, width)
		if lo.Sign() < 0 {
			lo.SetUint64(0)
		}
		above, _ := c.tail(lo, p)
		below, _ := c.tail(hi, p)
		left := lo.Sign() == 0 || above.Cmp(top) >= 0
		if left && below.Cmp(bottom) <= 0 {
			return interval{lo: lo, hi: hi, p: p}
		}
		width.Lsh(width, 1)
	}
}

// rounded returns floor(x·mant·2^exp + 1/2), if it is equal for all numbers of the interval. exp must be at most p.
func (x interval) rounded(mant *big.Int, exp int) (n int64, ok bool) {
	half := new(big.Int).Lsh(big.NewInt(1), uint(int(x.p)-exp))
	return x.floored(mant, exp, half.Rsh(half, 1))
}

// floored returns floor(x·mant·2^exp + more·2^(exp−p)), if it is equal for all numbers of the interval.
func (x interval) floored(mant *big.Int, exp int, more *big.Int) (n int64, ok bool) {
	at := func(end *big.Int) *big.Int {
		y := new(big.Int).Mul(end, mant)
		return y.Rsh(y.Add(y, more), uint(int(x.p)-exp))
	}
	lo, hi := at(x.lo), at(x.hi)
	return lo.Int64(), lo.Cmp(hi) == 0
}

// decide returns round(±x(v)·s), or ±floor((x(v) + lift)·s) if there is a lift, for the infinitely long v of d. This is
// the slow path. It could make every draw; the other paths only save time.
func (c *curve) decide(d *digits, s Scale, lift *interval) int64 {
	mant := new(big.Int).SetUint64(s.Mant)
	var x interval
	for bits := uint(128); ; bits += 64 {
		d.extend(bits)
		x = c.enclose(d, x)
		n, ok := int64(0), false
		if lift == nil {
			n, ok = x.rounded(mant, s.Exp)
		} else {
			n, ok = x.plus(lift).floored(mant, s.Exp, new(big.Int))
		}
		if ok {
			if d.negative() {
				return -n
			}
			return n
		}
	}
}

// gaussianTail returns Φ(−y) within two units and φ(y). With z = y²/2 and the sums of series,
//
//	Φ(−y) = 1/2 − y·Σ(−z)^n/(n!(2n+1))/√(2π),   φ(y) = Σ(−z)^n/n!/√(2π)   (Abramowitz and Stegun 7.1.5).
func gaussianTail(y *big.Int, p uint) (survival, density *big.Int) {
	z := new(big.Int).Mul(y, y)
	q := workBits(new(big.Int).Rsh(z, 2*p+1), p)
	z.Lsh(z, q-p) // y² with q+p fraction bits
	z.Rsh(z, p+1)
	e, f := series(z, q)

	c := invRootTwoPiAt(q)
	density = e.Rsh(e.Mul(e, c), 2*q-p)
	f.Rsh(f.Mul(f, c), q)
	f.Rsh(f.Mul(f, y), q)
	survival = new(big.Int).Lsh(big.NewInt(1), p-1)
	return survival.Sub(survival, f), density
}

// laplaceTail returns ½e^-y within two units, which is both the survival probability and the density.
func laplaceTail(y *big.Int, p uint) (survival, density *big.Int) {
	q := workBits(new(big.Int).Rsh(y, p), p)
	e, _ := series(new(big.Int).Lsh(y, q-p), q)
	e.Rsh(e, q-p+1)
	return e, e
}

// workBits returns the number q of fraction bits with which series(z, q) is good to 2^-p: PROOF.md, Lemma 3.
func workBits(whole *big.Int, p uint) uint {
	return p + 64 + 3*(uint(whole.Uint64())+1)
}

// series returns e^-z = Σ (−z)^n/n! and Σ (−z)^n/(n!(2n+1)), all with q fraction bits, z ≥ 0.
func series(z *big.Int, q uint) (e, f *big.Int) {
	term := new(big.Int).Lsh(big.NewInt(1), q)
	e, f = new(big.Int).Set(term), new(big.Int).Set(term)
	var divisor, part, rest big.Int
	twice := new(big.Int).Rsh(z, q-1).Uint64() // stops only once each further term is at most half the previous one
	for n := uint64(1); term.Sign() != 0 || n <= twice+1; n++ {
		part.Rsh(part.Mul(term, z), q)
		term.QuoRem(&part, divisor.SetUint64(n), &rest)
		part.QuoRem(term, divisor.SetUint64(2*n+1), &rest)
		if n%2 == 1 {
			e.Sub(e, term)
			f.Sub(f, &part)
		} else {
			e.Add(e, term)
			f.Add(f, &part)
		}
	}
	return e, f
}

// invRootTwoPiAt returns floor(2^q/√(2π)).
func invRootTwoPiAt(q uint) *big.Int {
	if q > tables.InvRootTwoPiBits {
		panic("BUG: noise: more precision asked than maxExtension words need")
	}
	c, _ := new(big.Int).SetString(tables.InvRootTwoPi, 16)
	return c.Rsh(c, tables.InvRootTwoPiBits-q)
}
