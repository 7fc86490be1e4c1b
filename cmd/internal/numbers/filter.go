package numbers

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// filter is the member increment_filter of a decision. Increment t contains e_j times the noise drawn at step t − j of
// its block. The sum of the increments of a span (a, b] therefore contains E_{b−s} − E_{a−s} times the draw of step s:
//
//	E_j = Σ_{l≤j} e_l = x + Σ_k x_k·q_k^j      x_k = R_k/(1 − q_k),  x = 1 − Σ x_k;  E_j = 0 for j < 0
//
// (mechanisms/decay: doc.go, and PROOF.md, Lemma 2). Draws are independent, and the increments of a block contain no
// draw of another block.
type filter struct {
	period  uint64    // P, a power of two: block i has the steps (iP, (i+1)P]
	poles   []uint64  // q_k: poles, in units of 2⁻³⁰
	weights []float64 // x_k: weight of the powers of q_k in E_j
	level   float64   // x: limit of E_j
	single  float64   // Σ e_j²: variance of one increment in the middle of a block
}

const (
	one       = 1 << 30 // the number 1 in the units of poles and residues
	mostPoles = 64
)

var errFilter = errors.New("member increment_filter: not a period, poles and residues")

// newFilter parses the member: P, then m poles, then m residues.
func newFilter(numbers []float64) (*filter, error) {
	m := (len(numbers) - 1) / 2
	if m < 1 || m > mostPoles || len(numbers) != 2*m+1 || !(numbers[0] >= 1 && numbers[0] <= 1<<50) {
		return nil, errFilter
	}
	f := &filter{period: uint64(numbers[0]), level: 1, single: 1}
	for k, q := range numbers[1 : m+1] {
		r := numbers[1+m+k]
		if !(q > 0 && q < one && r > 0 && r < one) || q != math.Trunc(q) {
			return nil, errFilter
		}
		f.poles = append(f.poles, uint64(q))
		f.weights = append(f.weights, r/(one-q))
		f.level -= r / (one - q)
		for l, p := range f.poles {
			twice := 2 * r / one * numbers[1+m+l] / one
			if l == k {
				twice /= 2
			}
			f.single += twice * f.series(p*f.poles[k], math.MaxUint64)
		}
	}
	if !(f.level > 0) {
		return nil, errFilter
	}
	return f, nil
}

// series returns Σ_{j<n} p^j = (1 − pⁿ)/(1 − p). p is in units of 2⁻⁶⁰ and below 1; 1 − p is computed without rounding.
func (*filter) series(p, n uint64) float64 {
	gap := float64(one*one-p) / (one * one)
	return -math.Expm1(float64(n)*math.Log1p(-gap)) / gap
}

// energy returns Σ_{j<n} (level + Σ_k y_k·q_k^j)².
func (f *filter) energy(level float64, y []float64, n uint64) float64 {
	sum := level * level * float64(n)
	for k, q := range f.poles {
		sum += 2 * level * y[k] * f.series(q*one, n)
		for l, p := range f.poles {
			sum += y[k] * y[l] * f.series(q*p, n)
		}
	}
	return sum
}

// of returns the variance of the sum of all increments in joined spans, in units of the variance of one increment in
// the middle of a block. It goes back from the last step. At each step, level and y give the weight that the sum has
// for the draw of the step: y are the coefficients of the powers of the poles.
func (f *filter) of(spans []span) (v float64) {
	y := make([]float64, len(f.poles))
	back := func(level float64, steps uint64) {
		v += f.energy(level, y, steps)
		for k, q := range f.poles {
			y[k] *= math.Exp(float64(steps) * math.Log1p(-float64(one-q)/one))
		}
	}
	for i, s := range slices.Backward(spans) {
		for to := s.to; to > s.from; {
			block := (to - 1) / f.period * f.period
			from := max(s.from, block)
			for k, x := range f.weights {
				y[k] += x
			}
			back(f.level, to-from)
			for k, x := range f.weights {
				y[k] -= x
			}
			next := block
			if i > 0 && from == s.from {
				next = max(block, spans[i-1].to)
			}
			back(0, from-next)
			if next == block {
				clear(y) // an earlier block has other draws
			}
			to = from
		}
	}
	return v / f.single
}

// span is the steps (from, to].
type span struct{ from, to uint64 }

func (s span) steps() uint64 { return s.to - s.from }

// join sorts spans and merges adjacent ones.
func join(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && joined[n-1].to == s.from {
			joined[n-1].to = s.to
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// ofCount returns the variance of the noise in the count over all that a stream has added to an interval.
func (p *partial) ofCount() float64 {
	return p.deviation * p.deviation * p.filter.of(p.spans)
}
