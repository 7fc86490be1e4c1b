package sumtest

import (
	"math/big"
	"testing"

	"oriel/mechanisms/rational"
)

// Inside checks that x is in the interval, and that the interval is narrower than 2⁻¹⁴⁰ of x.
func Inside(t testing.TB, what string, x *big.Float, in rational.Interval) {
	t.Helper()
	if x.Cmp(in.Lo) < 0 || x.Cmp(in.Hi) > 0 {
		t.Fatalf("%s: %g is not in [%g, %g]", what, x, in.Lo, in.Hi)
	}
	width := new(big.Float).Sub(in.Hi, in.Lo)
	if width.Sign() > 0 && width.MantExp(nil)-x.MantExp(nil) > -140 {
		t.Fatalf("%s: interval [%g, %g] is wide", what, in.Lo, in.Hi)
	}
}
