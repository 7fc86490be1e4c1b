package race

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// exactAUC is the slow reference for auc: it compares all pairs of events of different classes.
func exactAUC(margins []float64, high []bool) float64 {
	wins, pairs := 0.0, 0.0
	for i, a := range margins {
		for j, b := range margins {
			if high[i] && !high[j] {
				pairs++
				wins += [3]float64{0, 0.5, 1}[1+cmp.Compare(a, b)]
			}
		}
	}
	return wins / pairs
}

func TestAUCOfKnownOrders(t *testing.T) {
	f := func(margins []float64, high []bool, want float64) {
		t.Helper()
		var r ranks
		for i := range margins {
			r.add(margins[i], high[i], 1)
		}
		if got := auc(&r); math.Abs(got-want) > 1e-15 || math.Abs(exactAUC(margins, high)-want) > 1e-15 {
			t.Errorf("AUC of %v %v = %g, want %g", margins, high, got, want)
		}
	}
	f([]float64{1, 2, 3}, []bool{false, false, true}, 1)
	f([]float64{-1, 0, 3}, []bool{true, false, false}, 0)
	f([]float64{1, 1, 1, 1}, []bool{true, false, true, false}, 0.5)
	f([]float64{-1, 2, 2, 1e9}, []bool{false, true, false, true}, 0.875)
}

// TestAUCOfBinsIsThatOfPairs compares auc with exactAUC: the ranks of two halves must add up, and binning must change
// the AUC by less than 10⁻⁴.
func TestAUCOfBinsIsThatOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, scale := range []float64{1e-3, 0.1, 1, 30} {
		var r [2]ranks
		var margins []float64
		var high []bool
		for i := range 3000 {
			h := rng.IntN(3) == 0
			m := scale * rng.NormFloat64()
			if h {
				m += scale / 2
			}
			margins, high = append(margins, m), append(high, h)
			r[i%2].add(m, h, 2)
		}
		if got, want := auc(&r[0], &r[1]), exactAUC(margins, high); math.Abs(got-want) > 2e-4 {
			t.Errorf("scale %g: %g, want %g", scale, got, want)
		}
	}
	if !math.IsNaN(auc(&ranks{})) {
		t.Error("an AUC of nothing")
	}
}

func TestBinsAreInOrder(t *testing.T) {
	last := -1
	for _, x := range []float64{math.Inf(-1), -1e300, -7, -0.5, -1e-9, 0, 1e-9, 1e-4, 0.5, 0.501, 1, 7, 1e5, math.Inf(1)} {
		bin := binOf(x)
		if bin < last || bin >= binCount {
			t.Errorf("bin %d of %g behind %d", bin, x, last)
		}
		last = bin
		if a := math.Abs(x); a > 1e-3 && a < 1e5 && math.Abs(middleOf(bin)-x) > a/500 {
			t.Errorf("%g is in the bin of %g", x, middleOf(bin))
		}
	}
}

func TestRunningQuantileIsThatOfASort(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 6))
	for _, level := range []float64{0.1, 0.5, 0.9} {
		q := newQuantile(level)
		var all []float64
		for i := range 2000 {
			x := 10 * rng.NormFloat64()
			all = append(all, x)
			q.add(x, 1)
			if i < 50 || i%37 > 0 {
				continue
			}
			slices.Sort(all)
			at := level * float64(len(all))
			low, high := all[max(0, int(at)-2)], all[min(len(all)-1, int(at)+2)]
			if v := q.value(); v < low-math.Abs(low)/200 || v > high+math.Abs(high)/200 {
				t.Fatalf("level %g after %d: %g, want within [%g, %g]", level, i+1, v, low, high)
			}
		}
	}
}
