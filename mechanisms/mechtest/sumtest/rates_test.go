package sumtest_test

import (
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms/mechtest/sumtest"
)

// TestRefutedMuIsBelowTheShift checks that the expected counts for a Gaussian shift refute a little less than the
// shift.
func TestRefutedMuIsBelowTheShift(t *testing.T) {
	const n, mu = 100_000, 2.0
	hit := int(n * distuv.UnitNormal.CDF(mu/2))
	if got := sumtest.RefutedMu(hit, n-hit, n, 1e-6); got > mu || got < 0.95*mu {
		t.Errorf("bound %g, shift %g", got, mu)
	}
	if got := sumtest.RefutedMu(n/2, n/2, n, 1e-6); got > 0 {
		t.Errorf("a coin gives %g", got)
	}
}
