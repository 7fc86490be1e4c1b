package loss

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"oriel/schemas/event"
)

func dense(v ...float64) event.Vector { return event.Vector{Values: v} }

func mustParse(t testing.TB, name string) Loss {
	t.Helper()
	l, err := Parse(name, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestGradientTable(t *testing.T) {
	f := func(name string, x []float64, e event.Event, want []float64, value float64) {
		t.Helper()
		l := mustParse(t, name)
		got := make([]float64, len(x))
		for i := range got {
			got[i] = 99 // a wrong value that the gradient must overwrite
		}
		if !l.Gradient(got, x, e) {
			t.Errorf("%s: no gradient at %v of %v", name, x, e)
			return
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-15*(1+math.Abs(want[i])) {
				t.Errorf("%s: gradient %v, want %v", name, got, want)
				break
			}
		}
		if v := l.Value(x, e); math.Abs(v-value) > 1e-15*(1+math.Abs(value)) {
			t.Errorf("%s: value %v, want %v", name, v, value)
		}
	}
	x := []float64{1, -2, 0.5}
	a := dense(2, 0, 4) // ⟨a, x⟩ = 4
	sparse := event.Vector{Indices: []int32{2, 0}, Values: []float64{4, 2}}
	f("linear", x, event.Event{Vector: a, Weight: 3}, []float64{6, 0, 12}, 12)
	f("linear", x, event.Event{Vector: sparse, Weight: 3}, []float64{6, 0, 12}, 12)
	s := 1 / (1 + math.Exp(4))
	f("logistic", x, event.Event{Vector: a, Label: 1, Weight: 1}, []float64{-2 * s, 0, -4 * s}, math.Log1p(math.Exp(-4)))
	f("logistic", x, event.Event{Vector: sparse, Label: -1, Weight: 2}, []float64{4 * (1 - s), 0, 8 * (1 - s)},
		2*(4+math.Log1p(math.Exp(-4))))
	f("logistic", []float64{0}, event.Event{Vector: dense(1), Label: 1, Weight: 1}, []float64{-0.5}, math.Ln2)
	f("logistic", []float64{1}, event.Event{Vector: dense(-1e9), Label: 1, Weight: 1}, []float64{1e9}, 1e9)
	f("logistic", []float64{1}, event.Event{Vector: dense(1e9), Label: 1, Weight: 1}, []float64{0}, 0)
	f("hinge", x, event.Event{Vector: a, Label: 1, Weight: 1}, []float64{0, 0, 0}, 0)
	f("hinge", x, event.Event{Vector: a, Label: -1, Weight: 2}, []float64{4, 0, 8}, 10)
	f("hinge", []float64{1}, event.Event{Vector: dense(1), Label: 1, Weight: 1}, []float64{0}, 0)
	f("squared", x, event.Event{Vector: a, Label: 1, Weight: 2}, []float64{12, 0, 24}, 9)
	f("absolute", x, event.Event{Vector: sparse, Label: 1, Weight: 2}, []float64{4, 0, 8}, 6)
	f("absolute", x, event.Event{Vector: a, Label: 5, Weight: 1}, []float64{-2, 0, -4}, 1)
	f("absolute", x, event.Event{Vector: a, Label: 4, Weight: 1}, []float64{0, 0, 0}, 0)
	f("quantile", x, event.Event{Vector: a, Label: 1, Weight: 2}, []float64{0.4, 0, 0.8}, 0.6) // τ = 0.9
	f("quantile", x, event.Event{Vector: sparse, Label: 5, Weight: 1}, []float64{-1.8, 0, -3.6}, 0.9)
	f("quantile", x, event.Event{Vector: a, Label: 4, Weight: 1}, []float64{0, 0, 0}, 0)
	// In one dimension without a vector, x is a threshold.
	f("quantile", []float64{3}, event.Event{Label: 5, Weight: 2}, []float64{-1.8}, 3.6)
	f("quantile", []float64{3}, event.Event{Label: 1, Weight: 1}, []float64{0.1}, 0.2)
	f("portfolio", x, event.Event{Vector: a, Weight: 2}, []float64{-1, 0, -2}, -2*math.Log(4))
	f("portfolio", x, event.Event{Vector: sparse, Weight: 0}, []float64{0, 0, 0}, 0)
	f("linear", x, event.Event{Vector: event.Vector{Indices: []int32{}}, Weight: 1}, []float64{0, 0, 0}, 0)
	f("linear", x, event.Event{Vector: event.Vector{Indices: []int32{1, 1}, Values: []float64{2, 3}}, Weight: 1},
		[]float64{0, 5, 0}, -10)
}

func TestUndefinedOrNotFiniteIsNull(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x := []float64{1, 1}
	ok := event.Event{Vector: dense(1, 1), Label: 1, Weight: 1}
	with := func(change func(*event.Event)) event.Event {
		e := ok
		change(&e)
		return e
	}
	for _, name := range Names() {
		l := mustParse(t, name)
		dst := make([]float64, 2)
		if !l.Gradient(dst, x, ok) {
			t.Fatalf("%s: the plain event has no gradient", name)
		}
		bad := map[string]event.Event{
			"too short": with(func(e *event.Event) { e.Vector = dense(1) }),
			"too long":  with(func(e *event.Event) { e.Vector = dense(1, 1, 1) }),
			"index beyond": with(func(e *event.Event) {
				e.Vector = event.Vector{Indices: []int32{2}, Values: []float64{1}}
			}),
			"index negative": with(func(e *event.Event) {
				e.Vector = event.Vector{Indices: []int32{-1}, Values: []float64{1}}
			}),
			"indices unmatched": with(func(e *event.Event) {
				e.Vector = event.Vector{Indices: []int32{1}, Values: []float64{1, 2}}
			}),
			"weight negative": with(func(e *event.Event) { e.Weight = -1 }),
			"weight NaN":      with(func(e *event.Event) { e.Weight = nan }),
			"weight infinite": with(func(e *event.Event) { e.Weight = inf }),
			"value NaN":       with(func(e *event.Event) { e.Vector = dense(nan, 1) }),
			"value infinite":  with(func(e *event.Event) { e.Vector = dense(1, inf); e.Label = -1 }),
		}
		switch name {
		case "logistic", "hinge":
			bad["label no class"] = with(func(e *event.Event) { e.Label = 0 })
			bad["label NaN"] = with(func(e *event.Event) { e.Label = nan })
		case "squared", "absolute", "quantile":
			bad["no vector"] = with(func(e *event.Event) { e.Vector = event.Vector{} })
			bad["label NaN"] = with(func(e *event.Event) { e.Label = nan })
		case "portfolio":
			bad["wealth zero"] = with(func(e *event.Event) { e.Vector = dense(1, -1) })
			bad["wealth negative"] = with(func(e *event.Event) { e.Vector = dense(-1, -1) })
			bad["overflow"] = with(func(e *event.Event) { e.Vector = dense(1e-320, 0); e.Weight = 1e300 })
		}
		if name == "linear" || name == "squared" {
			bad["overflow"] = with(func(e *event.Event) { e.Vector = dense(1e300, 1); e.Weight = 1e300; e.Label = -1 })
		}
		for what, e := range bad {
			if l.Gradient(dst, x, e) {
				t.Errorf("%s: %s: has a gradient %v", name, what, dst)
			}
		}
	}
}

// TestGradientIsTheSlope compares gradients with central differences at h = 1e-6. The error h²·f”'/6 plus 1e-16/h is
// below 1e-8 here.
func TestGradientIsTheSlope(t *testing.T) {
	const n, h = 6, 1e-6
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range Names() {
		l := mustParse(t, name)
		for range 200 {
			x, g := make([]float64, n), make([]float64, n)
			e := event.Event{Vector: event.Vector{Values: make([]float64, n)}, Label: 1, Weight: 2 * rng.Float64()}
			for i := range x {
				x[i] = rng.NormFloat64()
				e.Vector.Values[i] = rng.NormFloat64()
			}
			if name == "portfolio" {
				for i := range x {
					x[i], e.Vector.Values[i] = 0.1+rng.Float64(), 0.5+rng.Float64()
				}
			}
			if rng.IntN(2) == 0 {
				e.Label = -1
			}
			if !l.Gradient(g, x, e) {
				t.Fatalf("%s: no gradient", name)
			}
			for i := range x {
				at := x[i]
				x[i] = at + h
				up := l.Value(x, e)
				x[i] = at - h
				down := l.Value(x, e)
				x[i] = at
				if slope := (up - down) / (2 * h); math.Abs(slope-g[i]) > 1e-7 {
					t.Errorf("%s: gradient %v, slope %v", name, g[i], slope)
				}
			}
		}
	}
}

// TestSparseEqualsDense checks that a sparse event with ascending indices and the equal dense event give the same bits.
func TestSparseEqualsDense(t *testing.T) {
	const n = 9
	rng := rand.New(rand.NewPCG(5, 6))
	for _, name := range Names() {
		l := mustParse(t, name)
		for range 100 {
			x, full := make([]float64, n), make([]float64, n)
			var v event.Vector
			v.Indices = []int32{}
			for i := range x {
				x[i] = 0.1 + rng.Float64()
				if rng.IntN(3) == 0 {
					full[i] = 0.5 + rng.Float64()
					v.Indices = append(v.Indices, int32(i))
					v.Values = append(v.Values, full[i])
				}
			}
			sparse := event.Event{Vector: v, Label: 1, Weight: 1.5}
			equal := event.Event{Vector: dense(full...), Label: 1, Weight: 1.5}
			a, b := make([]float64, n), make([]float64, n)
			if okA, okB := l.Gradient(a, x, sparse), l.Gradient(b, x, equal); okA != okB {
				t.Fatalf("%s: sparse %v, dense %v", name, okA, okB)
			} else if !okA {
				continue // the portfolio is empty
			}
			for i := range a {
				if math.Abs(a[i]-b[i]) > 1e-14 {
					t.Errorf("%s: sparse %v, dense %v", name, a, b)
					break
				}
			}
		}
	}
}

func TestGradientDoesNotAllocate(t *testing.T) {
	x, g := make([]float64, 32), make([]float64, 32)
	values := make([]float64, 32)
	for i := range x {
		x[i], values[i] = 0.1, 1
	}
	for _, name := range Names() {
		l := mustParse(t, name)
		e := event.Event{Vector: dense(values...), Label: 1, Weight: 1}
		if n := testing.AllocsPerRun(100, func() { l.Gradient(g, x, e) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestParseNamesTheChoices(t *testing.T) {
	_, err := Parse("huber", 0)
	if err == nil || !strings.Contains(err.Error(), "portfolio") {
		t.Errorf("error %v does not list the losses", err)
	}
	for _, tau := range []float64{0, 1, -1, math.NaN(), math.Inf(1)} {
		if _, err := Parse("quantile", tau); err == nil {
			t.Errorf("%g is a quantile", tau)
		}
	}
}
