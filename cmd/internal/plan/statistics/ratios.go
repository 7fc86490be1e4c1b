package statistics

import (
	"slices"

	"oriel/cmd/internal/digits"
	"oriel/operators/description"
)

// ratios returns the ratios of a view, with one column for each number of events in after.
func ratios(n *description.Precision, row NumberView, after []uint64) []NumberRatio {
	var all []NumberRatio
	for _, s := range n.Statistics {
		for _, events := range after {
			if !s.Ratio {
				break
			}
			ratio := NumberRatio{
				View: row.View, Statistic: s.Name, Unit: s.Unit, Events: events, Middle: digits.None,
				Ends: digits.None,
			}
			if row.has(events, s) && (row.Steps == 0 || n.Increments || s.Name == statisticMean) {
				at := func(mean float64) float64 {
					return row.quantile(s) * s.Deviation(float64(row.Sigma), description.Cell{Events: float64(events), Mean: mean})
				}
				ratio.Middle, ratio.Ends = digits.Number(at(0)), digits.Number(largest(at))
			}
			all = append(all, ratio)
		}
	}
	return all
}

// afters returns the columns of ratios: each power of ten at which some view has a ratio, and the requested number of
// events.
func afters(n *description.Precision, rows []NumberView, asked uint64) []uint64 {
	var all []uint64
	for x := uint64(leastAfter); x <= mostAfter; x *= 10 {
		if slices.ContainsFunc(rows, func(v NumberView) bool {
			return slices.ContainsFunc(n.Statistics, func(s description.Statistic) bool { return v.has(x, s) })
		}) {
			all = append(all, x)
		}
	}
	if asked > 0 && !slices.Contains(all, asked) {
		all = append(all, asked)
		slices.Sort(all)
	}
	return all
}

// has reports whether a view has a ratio over this number of events: a cell can have that many, and they suffice for
// the ratio to be shown.
func (v NumberView) has(events uint64, s description.Statistic) bool {
	x := digits.Number(events)
	return s.Ratio && x > digits.Number(s.Shown)*v.Sigma && !(x > v.Events)
}

// largest returns the largest error of a ratio over all positions in the range. Means and variances have it at an end
// or in the middle; quantiles may have it anywhere.
func largest(at func(mean float64) float64) float64 {
	const places = 256
	most := at(-1)
	for i := range places {
		most = max(most, at(2*float64(i+1)/places-1))
	}
	return most
}
