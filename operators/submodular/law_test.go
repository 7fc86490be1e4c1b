package submodular

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"

	"oriel/mechanisms/audit/bound"
	"oriel/operators/optest"
)

// largestRatio returns the logarithm of the largest ratio of probabilities between two laws, and the output with this
// ratio.
func largestRatio(l, other optest.Law) (most float64, where string) {
	for output, p := range l {
		if ratio := math.Log(p / other[output]); ratio > most {
			most, where = ratio, output
		}
	}
	return most, where
}

// counted plays lives with different keys, and counts their outputs.
func counted(lives int, run func(key [32]byte) string) map[string]int {
	counts := map[string]int{}
	for life := range lives {
		counts[run([32]byte{byte(life), byte(life >> 8), byte(life >> 16), 77})]++
	}
	return counts
}

// holds checks that counts follow a law, by χ² over the outputs with an expected count of at least ten; all other
// outputs form one class. The statistic exceeds its limit with probability at most 1e-9: df + 2√(df·x) + 2x at x = ln
// 1e9 (Laurent and Massart, "Adaptive estimation of a quadratic functional by model selection", Annals of Statistics
// 28, 2000, Lemma 1).
func holds(tb testing.TB, l optest.Law, counts map[string]int) {
	tb.Helper()
	lives := 0
	for output, n := range counts {
		if lives += n; l[output] == 0 {
			tb.Errorf("%q came out %d times, and cannot", output, n)
		}
	}
	got, classes, rest, expected := 0.0, 0, 0.0, 0.0
	square := func(n, want float64) {
		got += (n - want) * (n - want) / want
		classes++
	}
	for output, p := range l {
		if want := p * float64(lives); want >= 10 {
			square(float64(counts[output]), want)
		} else {
			rest, expected = rest+float64(counts[output]), expected+want
		}
	}
	if expected >= 10 {
		square(rest, expected)
	}
	df, x := float64(classes-1), math.Log(1e9)
	if most := df + 2*math.Sqrt(df*x) + 2*x; classes < 3 || got > most {
		tb.Errorf("χ² over %d classes of %d lives is %g, at most %g", classes, lives, got, most)
	}
}

// demonstrated returns two values of ε at δ, for an observer who knows both laws and sees complete lives. The first is
// what the counted lives demonstrate, and the second is the largest one that this number of lives could demonstrate.
// Both come from the likelihood-ratio test that is best for this number of lives. A demonstration takes the lower
// Clopper-Pearson limit of one rate and the upper limit of the other, each failing with probability 1e-6.
func demonstrated(
	with, without optest.Law, hits, alarms map[string]int, lives int, delta float64,
) (shown, most float64) {
	outputs := slices.SortedFunc(maps.Keys(with), func(a, b string) int {
		return -cmp.Compare(with[a]*without[b], with[b]*without[a])
	})
	hit, alarm, best := 0.0, 0.0, 0.0
	until := 0
	for i, s := range outputs {
		hit, alarm = hit+with[s], alarm+without[s]
		n := float64(lives) // five standard deviations: rates that this number of lives cannot distinguish
		low, high := hit-5*math.Sqrt(hit/n), alarm+5*math.Sqrt(alarm/n)+25/n
		if epsilon := math.Log(max(1e-300, low-delta) / high); epsilon > best {
			until, best, most = i+1, epsilon, math.Log((hit-delta)/alarm)
		}
	}
	yes, no := 0, 0
	for _, s := range outputs[:until] {
		yes, no = yes+hits[s], no+alarms[s]
	}
	const alpha = 1e-6
	return math.Log(max(1e-300, bound.Lower(yes, lives, alpha)-delta) / (1 - bound.Lower(lives-no, lives, alpha))), most
}
