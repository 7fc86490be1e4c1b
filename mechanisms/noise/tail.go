package noise

import "math/big"

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

// laplaceTail returns e^-y/2 within two units, which is the density too.
func laplaceTail(y *big.Int, p uint) (survival, density *big.Int) {
	q := workBits(new(big.Int).Rsh(y, p), p)
	e, _ := series(new(big.Int).Lsh(y, q-p), q)
	e.Rsh(e, q-p+1)
	return e, e
}

// workBits returns the fraction bits q with which series(z, q) is good to 2^-p: PROOF.md, Lemma 3.
func workBits(whole *big.Int, p uint) uint {
	return p + 64 + 3*(uint(whole.Uint64())+1)
}

// series returns e^-z = Σ (−z)^n/n! and Σ (−z)^n/(n!(2n+1)), all with q fraction bits, z ≥ 0.
func series(z *big.Int, q uint) (e, f *big.Int) {
	term := new(big.Int).Lsh(big.NewInt(1), q)
	e, f = new(big.Int).Set(term), new(big.Int).Set(term)
	var divisor, part, rest big.Int
	twice := new(big.Int).Rsh(z, q-1).Uint64() // stop only where every further term is at most half the one before
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
	if q > invRootTwoPiBits {
		panic("BUG: noise: more precision asked than maxExtension words need")
	}
	c, _ := new(big.Int).SetString(invRootTwoPi, 16)
	return c.Rsh(c, invRootTwoPiBits-q)
}
