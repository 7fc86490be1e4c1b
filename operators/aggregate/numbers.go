package aggregate

import "math"

// squares is the column of (x̃² − ½), which no statistic shows by itself.
const squares = "squares"

// columns names the released columns of a cell, in their order.
func (s *specification) columns() []string {
	names := []string{count}
	if s.weights.Mean > 0 {
		names = append(names, sum)
	}
	if s.weights.Square > 0 {
		names = append(names, squares)
	}
	return names
}

// shown is how many standard deviations of its noise a count must exceed for the ratios over it to be shown: below, noise may be most of it.
const shown = 12

// show writes the numbers of a view from its sums, cell by cell and column by column within, and the deviation of their noise: statistic by statistic,
// and cell by cell within. With n, x and y the sums of a cell over its weights,
//
//	count      n
//	sum        middle·n + half·x                  the sum of clamped values
//	mean       middle + half·x/n                  within the public range
//	variance   half²·(y/n + ½ − (x/n)²)           from 0 to half²
//
// Where n is not above 12 deviations, a mean or variance is the middle of its interval.
func (s *specification) show(dst, sums []float64, deviation float64) []float64 {
	width, cells := s.width(), s.cells()
	middle, half := s.middle(), s.half()
	most := float64(half * half)
	least := float64(shown * deviation / s.weights.Count)
	for _, statistic := range s.statistics {
		for cell := range cells {
			at := sums[cell*width : (cell+1)*width]
			n, number := at[0]/s.weights.Count, 0.0
			switch statistic {
			case count:
				number = n
			case sum:
				number = float64(middle*n) + float64(half*at[1]/s.weights.Mean)
			case mean:
				if number = s.interval(mean, at, deviation).middle(); n > least {
					number = middle + float64(half*within(at[1]/s.weights.Mean/n, -1, 1))
				}
			case variance:
				if number = s.interval(variance, at, deviation).middle(); n > least {
					x := at[1] / s.weights.Mean / n
					number = float64(most * within(at[2]/s.weights.Square/n+0.5-float64(x*x), 0, 1))
				}
			}
			dst = append(dst, number)
		}
	}
	return dst
}

func within(x, low, high float64) float64 { return max(low, min(high, x)) }

// sumDeviation is that of a sum of values whose columns have the deviation: the columns' noises are independent.
func (s *specification) sumDeviation(deviation float64) float64 {
	n, x := float64(s.middle()/s.weights.Count), float64(s.half()/s.weights.Mean)
	return float64(deviation * math.Sqrt(float64(n*n)+float64(x*x)))
}

// transposed writes increments in units of the columns, column by column, and cell by cell within: counts, x̃ and x̃² − ½.
func (s *specification) transposed(dst, sums []float64) []float64 {
	width, cells := s.width(), s.cells()
	for column, weight := range [3]float64{s.weights.Count, s.weights.Mean, s.weights.Square} {
		if weight == 0 {
			continue // only the last are absent
		}
		for cell := range cells {
			dst = append(dst, sums[cell*width+column]/weight)
		}
	}
	return dst
}
