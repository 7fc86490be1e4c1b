package fit

import (
	"maps"
	"math"
	"slices"
	"testing"
)

// The classic valley of Rosenbrock 1960, and a border at which the function is infinite.
func TestMinimise(t *testing.T) {
	x, y := minimise(func(x []float64) float64 {
		a, b := 1-x[0], x[1]-x[0]*x[0]
		return a*a + 100*b*b
	}, []float64{-1.2, 1})
	if y > 1e-9 || math.Abs(x[0]-1) > 1e-3 || math.Abs(x[1]-1) > 1e-3 {
		t.Errorf("minimum %g at %v, want 0 at (1, 1)", y, x)
	}
	x, _ = minimise(func(x []float64) float64 {
		if x[0] < 2 {
			return math.Inf(1)
		}
		return x[0]
	}, []float64{5})
	if x[0] > 2.1 {
		t.Errorf("minimum at %g, want it at the border 2", x[0])
	}
}

// b and d from residues against the recurrences of b = Π(1−p_i·x)/Π(1−q_k·x); Loss is made of sums of their squares.
func TestLossIsThatOfTheSeries(t *testing.T) {
	r := Rates{Poles: []float64{0.02, 0.3, 0.8}, Zeros: []float64{0.1, 0.6, 0.9}}
	const window, terms = 20, 20_000
	residues, inverse := r.Residues(), r.inverse()
	b, d := make([]float64, terms), make([]float64, terms)
	b[0], d[0] = 1, 1
	divide := func(x []float64, top, bottom []float64) { // x·Π(1−top)/Π(1−bottom)
		for i := range top {
			for j := terms - 1; j > 0; j-- {
				x[j] -= (1 - top[i]) * x[j-1]
			}
			for j := 1; j < terms; j++ {
				x[j] += (1 - bottom[i]) * x[j-1]
			}
		}
	}
	divide(b, r.Zeros, r.Poles)
	divide(d, r.Poles, r.Zeros)
	for j := 1; j < terms; j++ {
		d[j] += d[j-1]
	}
	noise, sums := 0.0, map[int]float64{}
	energy := 0.0
	for j := range terms {
		x, y := 0.0, inverse[0]
		for k := range residues {
			x += residues[k] * math.Pow(1-r.Poles[k], float64(j-1))
			y += inverse[k+1] * math.Pow(1-r.Zeros[k], float64(j))
		}
		if j > 0 && math.Abs(x-b[j]) > 1e-12 || math.Abs(y-d[j]) > 1e-12 {
			t.Fatalf("b_%d = %g, d_%d = %g, want %g, %g", j, x, j, y, b[j], d[j])
		}
		noise += b[j] * b[j]
		energy += d[j] * d[j]
		sums[j+1] = energy
	}
	aged := (1-late)*math.Log(sums[10*window]) + late*math.Log(sums[100*window])
	want := math.Log(noise) + 0.7*math.Log(sums[window]) + 0.3*aged
	if got := r.Loss(window, 0.3); math.Abs(got-want) > 1e-9 {
		t.Errorf("loss %g, want %g", got, want)
	}
}

// Poles and zeros alternate, whatever the window; but where another order is better, which starts with a zero.
func TestOrderOfPolesAndZeros(t *testing.T) {
	of := func(window, weight float64, m int) string {
		t.Helper()
		r, _, ok := Fit(window, weight, m)
		if !ok || len(r.Poles) != m || len(r.Zeros) != m {
			t.Fatalf("W=%g w=%g m=%d: no fit: %+v", window, weight, m, r)
		}
		at := map[float64]string{}
		for i := range m {
			at[r.Poles[i]], at[r.Zeros[i]] = "P", "Z"
		}
		order, before := "", 0.0
		for _, rate := range slices.Sorted(maps.Keys(at)) {
			if !(before < rate && rate < 1) {
				t.Errorf("W=%g: rate %g after %g", window, rate, before)
			}
			order, before = order+at[rate], rate
		}
		return order
	}
	f := func(window, weight float64, m int, want string) {
		t.Helper()
		if got := of(window, weight, m); got != want {
			t.Errorf("W=%g w=%g m=%d: %s, want %s", window, weight, m, got, want)
		}
	}
	f(1, 0.3, 3, "PZPZPZ")
	f(100, 0.3, 3, "PZPZPZ")
	f(64, 0.3, Mixed, "PZPZPZPZ")
	f(1<<20, 0.3, 3, "PZPZPZ")
	f(1<<20, 0, Mixed, "PZPZPZPZ")
	f(64, 0, 3, "PZPZPZ")
	f(64, 0, Mixed, "ZPPPZZPZ")
	f(longest, 0, Mixed, "ZPPZPZPZ")
	f(longest+1, 0, Mixed, "PZPZPZPZ")
}

// The price of crowding stays a small part of the loss, and residues below 2.
func TestCrowdingIsCheap(t *testing.T) {
	for _, window := range []float64{2, 64, 100, longest} {
		r, _, ok := Fit(window, 0, Mixed)
		if !ok || crowding(r) > 2e-3 {
			t.Errorf("W=%g: price %g", window, crowding(r))
		}
		for _, x := range r.Residues() {
			if math.Abs(x) >= 2 {
				t.Errorf("W=%g: residue %g", window, x)
			}
		}
	}
}
