package main

import (
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/audit"
	"oriel/mechanisms/dp"
)

// figure is the number in a story behind a text.
func figure(t *testing.T, story, behind string) float64 {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(behind) + `\s*([0-9.]+[0-9])`).FindStringSubmatch(story)
	if found == nil {
		t.Fatalf("%q is not said:\n%s", behind, story)
	}
	x, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestDifferencingIsToldTrue: exact counts tell all; Oriel's tell no more than chance to who looks at what rose, at ε
// = 1; and what is said to be proved follows from ε, for this one and for another.
func TestDifferencingIsToldTrue(t *testing.T) {
	all, err := readDemoFlights()
	if err != nil {
		t.Fatal(err)
	}
	for _, epsilon := range []float64{1, 4} {
		var b strings.Builder
		d := differencing{epsilon: epsilon, watched: 1000, looks: 40, runs: 400, seed: 1, all: all}
		if err := d.tell(t.Context(), &b, io.Discard); err != nil {
			t.Fatal(err)
		}
		story := b.String()
		if !strings.Contains(story, "right in 1000 of 1000") {
			t.Errorf("exact counts leave a doubt:\n%s", story)
		}
		// One in three, within 6.11 standard errors of a share of 1000 guesses, and 0.03 for what one departure adds.
		if right := figure(t, story, "What rose most is noise: right in"); epsilon == 1 &&
			math.Abs(right/1000-1./3) > 0.092+0.03 {
			t.Errorf("ε = %g: %g of 1000 guesses are right", epsilon, right)
		}
		mu := dp.GaussianMu(dp.Budget{Epsilon: epsilon, Delta: 1e-6})
		ever := figure(t, story, "proved of all there will ever be, at most")
		if want := 50 + 50*math.Erf(mu/2/math.Sqrt2); !(ever >= want && ever < want+0.2) {
			t.Errorf("ε = %g: %g %% is said to be proved, want %g", epsilon, ever, want)
		}
		looked := figure(t, story, "proved of 40 looks, at most")
		if tried := figure(t, story, "right in these runs"); !(looked > 50 && looked <= ever) ||
			tried > looked+100*6.11/2/math.Sqrt(400) {
			t.Errorf("ε = %g: %g %% right, proved %g %%, and %g %% for ever", epsilon, tried, looked, ever)
		}
		if got, want := figure(t, story, "holds it for at most"), math.Ceil(
			100*math.Exp(epsilon)/(1+math.Exp(epsilon)),
		); got != want {
			t.Errorf("ε = %g: belief goes to %g, want %g", epsilon, got, want)
		}
	}
}

// TestTheExceptionIsTheTailOfTheOdds: δ at ε is the chance that the odds go beyond e^ε, less e^ε times that chance
// where the departure was the other airline's (Balle and Wang 2018, Theorem 5).
func TestTheExceptionIsTheTailOfTheOdds(t *testing.T) {
	for _, mu := range []float64{0.2, 0.7, 2} {
		for _, epsilon := range []float64{0.1, 1, 3} {
			l := fromClaim(audit.Claim{Mu: mu, Epsilon: epsilon})
			other := math.Erfc((mu/2+epsilon/mu)/math.Sqrt2) / 2
			if got, want := l.exception-math.Exp(epsilon)*other, dp.GaussianDelta(epsilon, mu); math.Abs(got-want) > 1e-9 {
				t.Errorf("µ = %g, ε = %g: δ = %g, want %g", mu, epsilon, got, want)
			}
		}
	}
}
