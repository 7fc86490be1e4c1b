package fit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
)

// TestMinimise minimises the valley of Rosenbrock 1960, and a function that is infinite beyond a border.
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

// TestLossIsThatOfTheSeries compares b and d from residues with the recurrences of b = Π(1−p_i·x)/Π(1−q_k·x), and Loss
// with the sums of their squares.
func TestLossIsThatOfTheSeries(t *testing.T) {
	r := Rates{Poles: []float64{0.02, 0.3, 0.8}, Zeros: []float64{0.1, 0.6, 0.9}}
	const window, terms = 20, 20_000
	residues, inverse := r.Residues(), r.inverse(nil)
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

// TestRatesDependOnlyOnThePoint checks that a point gives the same bits after any other point, although a decoder
// keeps exponentials of the last one.
func TestRatesDependOnlyOnThePoint(t *testing.T) {
	x := spread(1e-3, 0.7, 3)
	last := decoder{order: "PZPZPZ"}
	for i := range x {
		for k := range x {
			moved := slices.Clone(x)
			moved[i] += h
			moved[k] -= h / 2
			fresh := decoder{order: last.order}
			got, want := last.decode(moved), fresh.decode(moved)
			if !slices.Equal(got.Poles, want.Poles) || !slices.Equal(got.Zeros, want.Zeros) {
				t.Errorf("coordinates %d and %d: %v after another point, want %v", i, k, got, want)
			}
		}
	}
}

// TestLossDependsOnlyOnTheRates checks that rates have the same loss, in all bits, after any other rates and windows,
// although ages keeps parts of the last ones.
func TestLossDependsOnlyOnTheRates(t *testing.T) {
	x := spread(1e-3, 0.7, 3)
	d := decoder{order: "PZPZPZ"}
	var last ages
	for i := range x {
		for k := range x {
			for _, step := range []float64{h, -h} {
				moved := slices.Clone(x)
				moved[i] += step
				moved[k] -= step / 2
				r, window, weight := d.decode(moved), float64(1000+k/3), float64(i/3)*0.3
				if got, want := last.loss(r, window, weight), r.Loss(window, weight); got != want {
					t.Errorf("coordinates %d and %d: loss %g after other rates, want %g", i, k, got, want)
				}
			}
		}
	}
	fewer := Rates{Poles: []float64{0.1, 0.4}, Zeros: []float64{0.2, 0.5}}
	if got, want := last.loss(fewer, 1000, 0.3), fewer.Loss(1000, 0.3); got != want {
		t.Errorf("loss %g after more rates, want %g", got, want)
	}
}

// TestOrderOfPolesAndZeros checks that fitted poles and zeros keep their order at every window.
func TestOrderOfPolesAndZeros(t *testing.T) {
	f := func(what, want string, r Rates, _ float64, ok bool) {
		t.Helper()
		if !ok {
			t.Fatalf("%s: no fit", what)
		}
		at := map[float64]string{}
		for i := range r.Poles {
			at[r.Poles[i]], at[r.Zeros[i]] = "P", "Z"
		}
		order := ""
		for _, rate := range slices.Sorted(maps.Keys(at)) {
			if !(rate > 0 && rate < 1) {
				t.Errorf("%s: rate %g", what, rate)
			}
			order += at[rate]
		}
		if order != want {
			t.Errorf("%s: %s, want %s", what, order, want)
		}
	}
	for _, window := range []float64{1, 100, 1 << 20} {
		r, loss, ok := Fit(window, 0.3, 3)
		f(fmt.Sprintf("W=%g", window), "PZPZPZ", r, loss, ok)
	}
	for window, want := range map[float64]string{2: "ZPPPZZPZ", 64: "ZPPPZZPZ", 100: "ZPPZPZPZ", longest: "ZPPZPZPZ"} {
		r, loss, ok := Mixed(window)
		f(fmt.Sprintf("mixed, W=%g", window), want, r, loss, ok)
		if _, alternating, _ := Fit(window, 0, MixedPoles); loss > alternating-0.0016 {
			t.Errorf("W=%g: loss %g, alternating %g", window, loss, alternating)
		}
		if crowding(r) > 2e-3 {
			t.Errorf("W=%g: price of crowding %g", window, crowding(r))
		}
		for _, x := range r.Residues() {
			if math.Abs(x) >= 2 {
				t.Errorf("W=%g: residue %g", window, x)
			}
		}
	}
	for _, window := range []float64{1, longest + 1} {
		if r, _, ok := Mixed(window); ok {
			t.Errorf("W=%g: %+v", window, r)
		}
	}
}
