package experiment

import (
	"cmp"
	"slices"
)

// Discoveries returns which of M hypotheses the base e-BH procedure rejects (R. Wang and A. Ramdas, False discovery
// rate control with e-values, arXiv:2009.02824). It rejects the k largest e-values, for the largest k whose k-th
// largest is at least M/(k·α). The expected share of false discoveries is at most α under any dependence, if each
// e-value has a mean of at most 1 when there is no effect. E-values have this mean at a look that is fixed beforehand.
func Discoveries(e []float64, alpha float64) []bool {
	all := float64(len(e))
	return largest(e, func(k int, e float64) bool { return float64(e*alpha*float64(k)) >= all })
}

// DiscoveriesAtAnyTime returns which of M hypotheses the procedure of Y. Benjamini and D. Yekutieli rejects, from
// p-values (Ann. Stat. 29, 2001, theorem 1.3). It rejects the k least p-values, for the largest k whose k-th least is
// at most k·α/(M·(1 + 1/2 + … + 1/M)). The expected share of false discoveries is at most α under any dependence. The
// p-values of Evidence are valid under any stopping rule, for all hypotheses together.
func DiscoveriesAtAnyTime(p []float64, alpha float64) []bool {
	all, minus := 0.0, make([]float64, len(p))
	for i, x := range p {
		all += 1 / float64(i+1)
		minus[i] = -x
	}
	all = float64(all * float64(len(p)))
	return largest(minus, func(k int, minus float64) bool { return -float64(minus*all) <= float64(alpha*float64(k)) })
}

// largest marks the k largest values, for the largest k for which the k-th largest value is enough.
func largest(values []float64, enough func(k int, value float64) bool) []bool {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[j], values[i]) })
	most := 0
	for i, at := range order {
		if enough(i+1, values[at]) {
			most = i + 1
		}
	}
	found := make([]bool, len(values))
	for _, at := range order[:most] {
		found[at] = true
	}
	return found
}
