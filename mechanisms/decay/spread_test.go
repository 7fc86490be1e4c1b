package decay

import (
	"math"
	"testing"
)

// increments returns e_j of a filter: increment l of a block has e_{l−s} times the draw of step s.
func increments(f Filter, terms int) []float64 {
	e := make([]float64, terms)
	e[0] = 1
	for k := range f.Count {
		x := float64(f.Residues[k]) / unit
		for j := 1; j < terms; j++ {
			e[j] -= x
			x *= float64(f.Poles[k]) / unit
		}
	}
	return e
}

// byDraws returns the variance of a reading with decay γ' after a step, from the weight of every draw. The reading has
// b'_j = e_j + γ'·b'_{j−1} times a draw j steps after the draw. Once the draw's block has ended, it forgets the draw by
// γ' at each step.
func byDraws(f Filter, decay float64, step int) (variance float64) {
	period := int(f.Period())
	weights := increments(f, period)
	for j := 1; j < period; j++ {
		weights[j] += decay * weights[j-1]
	}
	for draw := 1; draw <= step; draw++ {
		last := min(step, ((draw-1)/period+1)*period)
		weight := weights[last-draw] * math.Pow(decay, float64(step-last))
		variance += weight * weight
	}
	return variance
}

// TestReadingsHaveTheVarianceOfTheirDraws compares ReadingVariance and VarianceProfile with a sum over all draws. It
// covers steps within a block and after several blocks, and memories shorter and longer than a block.
func TestReadingsHaveTheVarianceOfTheirDraws(t *testing.T) {
	f := written(t)[0]
	period := f.Period()
	for _, memory := range []uint64{3, period, 40 * period} {
		profile, err := NewSpread(f, memory)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []uint64{1, 2, period, period + 1, 2*period + 5, 6 * period} {
			want := byDraws(f, float64(Decay(memory))/(1<<30), int(step))
			exact, err := f.ReadingVariance(memory, step)
			if err != nil {
				t.Fatal(err)
			}
			if got := profile.At(step); math.Abs(exact/want-1) > 1e-9 || math.Abs(got/want-1) > 1e-6 {
				t.Errorf("memory %d, step %d: %g, by the profile %g, want %g", memory, step, exact, got, want)
			}
		}
	}
}

// TestWindowsHaveTheVarianceOfTheirDraws compares WindowVariance with Σ_{j≥0} (E_j − E_{j−w})², E_j = Σ_{l≤j} e_l.
func TestWindowsHaveTheVarianceOfTheirDraws(t *testing.T) {
	const terms = 1 << 14
	for _, f := range written(t)[:2] {
		e := increments(f, terms)
		sums := make([]float64, terms+1) // sums[j+1] = E_j
		for j, x := range e {
			sums[j+1] = sums[j] + x
		}
		for _, w := range []int{1, 2, 9, 64, 700} {
			want := 0.0
			for j := range terms {
				x := sums[j+1] - sums[max(0, j+1-w)]
				want += x * x
			}
			if got := f.WindowVariance(uint64(w)); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("H = %d, %d steps: %g, want %g", f.Memory, w, got, want)
			}
		}
	}
}
