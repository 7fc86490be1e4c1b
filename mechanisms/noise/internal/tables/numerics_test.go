package tables

import "math/big"

// solve returns x with tail(x) = v by Newton's method from an x left of the root. The tail is convex and decreasing, so
// the iterates rise to the root.
func (s shape) solve(v, from *big.Float) *big.Float {
	x := from
	for range 200 {
		survival, density := s.tail(x)
		step := quo(sub(survival, v), density)
		x = add(x, step)
		if step.Sign() == 0 || step.MantExp(nil) < -70 {
			return x // the next step would be about the square of this one
		}
	}
	panic(s.name + ": no convergence")
}

// interpolate returns the monomial coefficients of the polynomial through the points (Newton's divided differences).
func interpolate(ts, xs []*big.Float) []*big.Float {
	top := len(ts) - 1
	for j := 1; j <= top; j++ {
		for i := top; i >= j; i-- {
			xs[i] = quo(sub(xs[i], xs[i-1]), sub(ts[i], ts[i-j]))
		}
	}
	c := make([]*big.Float, top+1)
	for j := range c {
		c[j] = num(0)
	}
	for i := top; i >= 0; i-- { // Newton form: c ← c·(t − ts[i]) + xs[i]
		for j := top; j > 0; j-- {
			c[j] = sub(c[j-1], mul(c[j], ts[i]))
		}
		c[0] = sub(xs[i], mul(c[0], ts[i]))
	}
	return c
}

// series returns e^-z = Σ (−z)^n/n! and Σ (−z)^n/(n!(2n+1)), summed in integers with prec fraction bits.
func series(z *big.Float) (e, f *big.Float) {
	fixed := new(big.Float).SetPrec(z.Prec())
	zi, _ := fixed.SetMantExp(z, prec).Int(nil)
	term := new(big.Int).Lsh(big.NewInt(1), prec)
	ei, fi := new(big.Int).Set(term), new(big.Int).Set(term)
	n, part := new(big.Int), new(big.Int)
	for i := int64(1); term.Sign() != 0; i++ {
		term.Quo(term.Rsh(term.Mul(term, zi), prec), n.SetInt64(i))
		part.Quo(term, n.SetInt64(2*i+1))
		if i%2 == 1 {
			ei.Sub(ei, term)
			fi.Sub(fi, part)
		} else {
			ei.Add(ei, term)
			fi.Add(fi, part)
		}
	}
	e, f = num(0).SetInt(ei), num(0).SetInt(fi)
	return e.SetMantExp(e, -prec), f.SetMantExp(f, -prec)
}

// rootTwoPi returns √(2π) to 2 200 bits, π by Machin's formula 16·atan(1/5) − 4·atan(1/239).
func rootTwoPi() *big.Float {
	const bits = 2200
	atan := func(inverse int64) *big.Int {
		power := new(big.Int).Lsh(big.NewInt(1), bits+40)
		power.Quo(power, big.NewInt(inverse))
		square, sum := big.NewInt(inverse*inverse), new(big.Int)
		for n := int64(1); power.Sign() != 0; n += 2 {
			term := new(big.Int).Quo(power, big.NewInt(n))
			if n%4 == 1 {
				sum.Add(sum, term)
			} else {
				sum.Sub(sum, term)
			}
			power.Quo(power, square)
		}
		return sum
	}
	twoPi := new(big.Int).Mul(big.NewInt(32), atan(5))
	twoPi.Sub(twoPi, new(big.Int).Mul(big.NewInt(8), atan(239)))
	f := new(big.Float).SetPrec(bits).SetInt(twoPi)
	return f.Sqrt(f.SetMantExp(f, -(bits + 40)))
}

func ceil(x *big.Float) uint64 {
	n, _ := x.Uint64()
	if !x.IsInt() {
		n++
	}
	return n
}

// result returns a zero with the precision of the wider operand, at least prec.
func result(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(max(prec, a.Prec(), b.Prec()))
}

func num(x float64) *big.Float       { return new(big.Float).SetPrec(prec).SetFloat64(x) }
func add(a, b *big.Float) *big.Float { return result(a, b).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return result(a, b).Sub(a, b) }
func mul(a, b *big.Float) *big.Float { return result(a, b).Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return result(a, b).Quo(a, b) }
