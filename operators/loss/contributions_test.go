package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"oriel/schemas/event"
)

// sharp returns losses and bounds for which a bound better than the clip is known.
func sharp() []struct {
	loss Loss
	b    Bounds
} {
	var all []struct {
		loss Loss
		b    Bounds
	}
	add := func(l Loss, b Bounds) {
		all = append(all, struct {
			loss Loss
			b    Bounds
		}{l, b})
	}
	for _, r := range []float64{1e-9, 0.3, 1, 2, 3, 5, 20} {
		add(Logistic{}, Bounds{Decision: r, Dimension: 2, Clip: 1, Features: 1, Weight: 1})
		add(Logistic{}, Bounds{Decision: r, Dimension: 2, Clip: 9, Features: 1.5, Weight: 2})
		for _, y := range []float64{0.1, 1, 3} {
			add(Squared{}, Bounds{Decision: r, Dimension: 2, Clip: 1e6, Features: 1, Weight: 1, Label: y})
			add(Squared{}, Bounds{Decision: r, Dimension: 2, Clip: 2*y + 0.3*r, Features: 2, Weight: 0.5, Label: y})
		}
	}
	for _, tau := range []float64{0.5, 0.9, 0.05} {
		add(Quantile{tau}, Bounds{Decision: 3, Dimension: 1, Clip: 1, Weight: 1})
		add(Quantile{tau}, Bounds{Decision: 3, Dimension: 1, Clip: 7, Weight: 4})
		add(Quantile{tau}, Bounds{Decision: 3, Dimension: 2, Clip: 4, Features: 2, Weight: 1.5})
	}
	return all
}

// gradients calls visit with the clipped gradients at x of a fine mesh of events within bounds.
func gradients(t *testing.T, l Loss, b Bounds, x []float64, visit func(g []float64)) {
	t.Helper()
	n := len(x)
	g := make([]float64, n)
	labels := []float64{-1, 1}
	switch l.(type) {
	case Squared:
		labels = []float64{-b.Label, -b.Label / 2, 0, b.Label / 3, b.Label}
	case Quantile:
		labels = []float64{-1e9, 1e9}
	}
	try := func(v event.Vector) {
		for _, label := range labels {
			for _, weight := range []float64{1, 0.5} {
				if !l.Gradient(g, x, event.Event{Vector: v, Label: label, Weight: weight * b.Weight}) {
					t.Fatalf("%T: no gradient of %v at %v", l, v, x)
				}
				if length := norm(g); length > b.Clip {
					for i := range g {
						g[i] *= b.Clip / length
					}
				}
				visit(g)
			}
		}
	}
	if n == 1 {
		try(event.Vector{})
		return
	}
	const angles = 720
	for k := range angles {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / angles)
		for _, length := range []float64{1, 0.9, 0.5} {
			try(dense(length*b.Features*cos, length*b.Features*sin))
		}
	}
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum = math.Hypot(sum, x)
	}
	return sum
}

// TestContributionsContainEveryGradient checks a mesh of decisions and events in the plane. All gradients are in the
// ball and at most Norm long, and the centre is at most Reach long. At |x| = R some gradients are 2·Radius apart and
// one has length Norm, so that neither bound could be smaller. One direction of x in one plane suffices, because
// gradients rotate with x.
func TestContributionsContainEveryGradient(t *testing.T) {
	for _, c := range sharp() {
		what := fmt.Sprintf("%T %+v", c.loss, c.b)
		l, ok := ContributionsOf(c.loss, c.b)
		if !ok {
			t.Errorf("%s: nothing gained", what)
			continue
		}
		longest, most := 0.0, 0.0
		for _, share := range []float64{0, 0.1, 0.5, 1} {
			x := []float64{share * c.b.Decision * 0.8, -share * c.b.Decision * 0.6}[:c.b.Dimension]
			if c.b.Dimension == 1 {
				x[0] = share * c.b.Decision
			}
			var all [][]float64
			gradients(t, c.loss, c.b, x, func(g []float64) {
				length, away := norm(g), 0.0
				for i := range g {
					away = math.Hypot(away, g[i]-l.Pull*x[i]-l.Offset)
				}
				if away > l.Radius || length > l.Norm*(1+1e-12) {
					t.Fatalf("%s: at %v the gradient %v is %.12g from the centre and %.12g long: bounds %+v", what, x, g, away, length,
						l)
				}
				longest = max(longest, length)
				if away > 0.995*l.Radius && share == 1 {
					all = append(all, append([]float64(nil), g...))
				}
			})
			if centre := norm([]float64{l.Pull*x[0] + l.Offset, l.Pull * x[len(x)-1]}[:c.b.Dimension]); centre > l.Reach {
				t.Errorf("%s: the centre at %v is %g long, beyond %g", what, x, centre, l.Reach)
			}
			for i, g := range all {
				for _, h := range all[:i] {
					d := 0.0
					for k := range g {
						d = math.Hypot(d, g[k]-h[k])
					}
					most = max(most, d)
				}
			}
		}
		if most < 2*l.Radius*(1-3e-3) || longest < l.Norm*(1-1e-4) {
			t.Errorf("%s: gradients are at most %.6g apart and %.6g long, bounds %+v", what, most, longest, l)
		}
	}
}

// TestDiametersMatchTheTable compares diameters with a search over angles, max_α 2√(1−α²)·σ(αR), and with printed
// figures.
func TestDiametersMatchTheTable(t *testing.T) {
	for r, printed := range map[float64]float64{1e-9: 1, 1: 1.099, 2: 1.270, 3: 1.419, 5: 1.617, 20: 1.927} {
		l, ok := ContributionsOf(Logistic{}, Bounds{Decision: r, Dimension: 9, Clip: 1, Features: 1, Weight: 1})
		searched := 0.0
		for a := 0.0; a <= 1; a += 1e-5 {
			searched = max(searched, 2*math.Sqrt(1-a*a)/(1+math.Exp(-a*r)))
		}
		if !ok || math.Abs(2*l.Radius-searched) > 1e-9 || math.Abs(2*l.Radius-printed) > 5e-4 {
			t.Errorf("R = %g: diameter %.7g, searched %.7g, printed %g", r, 2*l.Radius, searched, printed)
		}
	}
	for _, c := range []struct{ r, y, clip float64 }{{1, 1, 100}, {5, 0.5, 100}, {2, 1, 1.7}, {0.5, 3, 4}} {
		l, ok := ContributionsOf(
			Squared{}, Bounds{Decision: c.r, Dimension: 2, Clip: c.clip, Features: 1, Weight: 1, Label: c.y},
		)
		searched := 0.0
		for a := 0.0; a <= 1; a += 1e-6 {
			searched = max(searched, 2*math.Sqrt(1-a*a)*min(c.clip, c.r*a+c.y))
		}
		if !ok || math.Abs(2*l.Radius-searched) > 1e-5*searched {
			t.Errorf("%+v: diameter %.7g, searched %.7g", c, 2*l.Radius, searched)
		}
	}
}

// TestWrongBoundsAreFound plants wrong bounds, which some gradients must exceed: a centre of the wrong sign, a centre
// at zero, a centre that does not shrink with the decision, and a radius smaller by a thousandth.
func TestWrongBoundsAreFound(t *testing.T) {
	b := Bounds{Decision: 5, Dimension: 2, Clip: 1, Features: 1, Weight: 1}
	l, _ := ContributionsOf(Logistic{}, b)
	for what, fault := range map[string]struct{ pull, fixed, radius float64 }{
		"honest":          {l.Pull, 0, l.Radius},
		"wrong sign":      {-l.Pull, 0, l.Radius},
		"no centre":       {0, 0, l.Radius},
		"short":           {l.Pull, 0, l.Radius * 0.999},
		"does not shrink": {0, l.Reach, l.Radius},
	} {
		outside := false
		for _, share := range []float64{1e-3, 0.05, 0.3, 1} {
			x := []float64{share * b.Decision, 0}
			gradients(t, Logistic{}, b, x, func(g []float64) {
				outside = outside || math.Hypot(g[0]-fault.pull*x[0]-fault.fixed, g[1]) > fault.radius
			})
		}
		if outside != (what != "honest") {
			t.Errorf("%s: outside %t", what, outside)
		}
	}
}

func TestUnknownBoundsAndOtherLossesGainNothing(t *testing.T) {
	known := Bounds{Decision: 2, Dimension: 3, Clip: 1, Features: 1, Weight: 1, Label: 0.5}
	for _, l := range []Loss{Linear{}, Hinge{}, Absolute{}, Portfolio{}} {
		if l, ok := ContributionsOf(l, known); ok {
			t.Errorf("%T: %+v", l, l)
		}
	}
	f := func(l Loss, change func(*Bounds)) {
		t.Helper()
		b := known
		change(&b)
		if l, ok := ContributionsOf(l, b); ok {
			t.Errorf("%T of %+v: %+v", l, b, l)
		}
	}
	f(Logistic{}, func(b *Bounds) { b.Features = 0 })
	f(Logistic{}, func(b *Bounds) { b.Clip = 0.5 })
	f(Squared{}, func(b *Bounds) { b.Label = 0 })
	f(Squared{}, func(b *Bounds) { b.Label = 1 }) // no bound: the clip cuts every residual
	f(Squared{}, func(b *Bounds) { b.Features = 0 })
	f(Quantile{0.9}, func(b *Bounds) { b.Features = 0 })
	f(Quantile{0.9}, func(b *Bounds) { b.Clip = 0.9 })
}

// FuzzContributions checks that for any bounds the returned ball contains zero.
func FuzzContributions(f *testing.F) {
	f.Add(5.0, 1.0, 1.0, 1.0, 0.0, 3, uint8(0))
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		f.Add(math.Exp(30*rng.NormFloat64()), math.Exp(5*rng.NormFloat64()), math.Exp(5*rng.NormFloat64()),
			math.Exp(5*rng.NormFloat64()), math.Exp(5*rng.NormFloat64()), 1+rng.IntN(5), uint8(rng.IntN(3)))
	}
	f.Fuzz(func(t *testing.T, r, clip, features, weight, label float64, n int, which uint8) {
		for _, x := range []float64{r, clip, features, weight, label} {
			if !(x >= 0 && x <= 1e15) {
				return
			}
		}
		b := Bounds{
			Decision: max(r, 1e-15), Dimension: max(n, 1), Clip: max(clip, 1e-12), Features: features, Weight: weight,
			Label: label,
		}
		l, ok := ContributionsOf([]Loss{Logistic{}, Squared{}, Quantile{0.9}}[which%3], b)
		if ok && !(l.Radius > 0 && l.Reach >= 0 && l.Reach <= l.Radius && l.Radius < b.Clip && l.Norm <= b.Clip &&
			l.Norm > 0 && l.Pull >= 0 && l.Pull < math.Inf(1)) {
			t.Errorf("%+v: %+v", b, l)
		}
	})
}
