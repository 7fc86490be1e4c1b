package dp

// Compose returns the curve of mechanisms whose noise is independent and whose units are the same: µ(A) =
// √(Σµ_i(A)²), rounded up (PROOF.md, Lemma 5, for their noises one behind the other; Dong, Roth and Su 2022,
// Corollary 3.3). At user level all must be UserCurves. It panics without a curve.
func Compose(curves ...Curve) Curve {
	last := len(curves) - 1
	whole := curves[last]
	for i := last - 1; i >= 0; i-- {
		whole = composed{curves[i], whole}
	}
	return whole
}

// composed is two curves: of values, and so comparable.
type composed struct{ first, rest Curve }

// Mu returns √(Σµ_i(age)²), rounded up.
func (t composed) Mu(age uint64) float64 {
	return t.total(func(c Curve) float64 { return c.Mu(age) })
}

// MuAll returns √(Σµ_i²) of the curves' MuAll, rounded up.
func (t composed) MuAll(age uint64) float64 {
	return t.total(func(c Curve) float64 { return c.(UserCurve).MuAll(age) })
}

// total adds squares from the first to the last curve, and rounds the root once.
func (t composed) total(mu func(Curve) float64) float64 {
	var sum Total
	rest, more := t, true
	for more {
		sum.AddMu(mu(rest.first))
		last := rest.rest
		if rest, more = last.(composed); !more {
			sum.AddMu(mu(last))
		}
	}
	return sum.Mu()
}
