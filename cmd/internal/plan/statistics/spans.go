package statistics

import (
	"fmt"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/numbers/laplace"
	"oriel/operators/description"
)

const statisticMean = "mean"

// spans returns the sums of steps by the clock that readers look at: an hour, a day and a week of whole steps, if they
// have at most `most` steps; 0: any number.
func spans(length int64, most uint64) (views []description.View) {
	for _, span := range []struct {
		name    string
		seconds int64
	}{{"an hour", 3600}, {"a day", 86400}, {"a week", 7 * 86400}} {
		if length > 0 && span.seconds > length && span.seconds%length == 0 {
			n := uint64(span.seconds / length)
			if most > 0 && n > most {
				break
			}
			views = append(views, description.View{Name: fmt.Sprintf("%s, %d steps", span.name, n), Steps: n})
		}
	}
	return views
}

// draw replaces the figures of a view of normal noise by those of draws that are not normal, as `oriel numbers` has them.
func (v *NumberView) draw(n *description.Precision, sigma, steps float64) {
	if n.Draws == nil {
		return
	}
	d := n.Draws(sigma)
	list := []laplace.Steps{{N: steps, Count: d.Count, Value: d.Value, Draws: d.Number, Fractions: d.Fractions}}
	below, above := laplace.Counts(list)
	v.Count.Half = digits.Number((below + above) / 2)
	if v.Count.Worst = v.Count.Half; !d.Fractions {
		v.Count.Window = &[2]float64{-above, below}
	}
	if n.Value == "" {
		return
	}
	if v.Sum.Half.Known() {
		v.Sum.Half = digits.Number(laplace.Sums(list, (n.Low+n.High)/2, (n.High-n.Low)/2))
		v.Sum.Worst = v.Sum.Half
	}
	if v.Steps > 0 { // the intervals of one decision have the quantile of one draw
		v.z, v.mean = laplace.Columns(list), laplace.Means(list)
	}
}

// quantile returns within how many deviations the noise of a ratio is in 95 % of cases.
func (v *NumberView) quantile(s description.Statistic) float64 {
	if s.Name == statisticMean {
		return v.mean
	}
	return v.z
}

// String writes the interval of a number around it.
func (s Spread) String() string {
	if w := s.Window; w != nil && -w[0] != w[1] {
		return fmt.Sprintf("−%g … +%g", -w[0], w[1])
	}
	return digits.PlusMinus(s.Half)
}
