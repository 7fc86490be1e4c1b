package dp

import (
	"math"
	"testing"
)

// toldPair is the pair of laws of Lemma 7: each of all outcomes has its probability under P and under Q. With
// probability q the outcome says which of both it is; otherwise it is randomised response of loss ε.
func toldPair(epsilon, q float64) [][2]float64 {
	p := 1 / (1 + math.Exp(-epsilon))
	return [][2]float64{{q, 0}, {0, q}, {(1 - q) * p, (1 - q) * (1 - p)}, {(1 - q) * (1 - p), (1 - q) * p}}
}

// product returns the laws of two independent outcomes.
func product(a, b [][2]float64) (all [][2]float64) {
	for _, x := range a {
		for _, y := range b {
			all = append(all, [2]float64{x[0] * y[0], x[1] * y[1]})
		}
	}
	return all
}

// divergence returns δ(ε) by definition: the sum of the positive parts of P − e^ε·Q.
func divergence(laws [][2]float64, epsilon float64) (delta float64) {
	for _, l := range laws {
		delta += max(0, l[0]-math.Exp(epsilon)*l[1])
	}
	return delta
}

// TestToldIsNeverBelowTheTruth composes pairs of Lemma 7, enumerates their outcomes, and compares δ with the total. The
// total is above by no more than the events that coincide, q² each pair.
func TestToldIsNeverBelowTheTruth(t *testing.T) {
	for _, losses := range [][][2]float64{
		{{1, 1e-3}},
		{{1, 0.1}},
		{{0, 0.01}},
		{{1, 1e-3}, {1, 1e-3}},
		{{0.5, 0.01}, {0.5, 0.01}, {0.5, 0.01}, {0.5, 0.01}},
		{{0.3, 1e-6}, {1, 1e-4}, {0.1, 0.02}},
	} {
		laws, total, pairs, q := [][2]float64{{1, 1}}, Total{}, 0.0, 0.0
		for _, l := range losses {
			laws = product(laws, toldPair(l[0], l[1]))
			total.AddPure(l[0])
			total.AddTold(l[1])
			pairs += q * l[1]
			q += l[1]
		}
		for _, epsilon := range []float64{0, 0.1, 0.5, 1, 1.4, 2, 5} {
			truth, got := divergence(laws, epsilon), total.Delta(epsilon)
			if got < truth*(1-1e-12) || got > truth+pairs+1e-12 {
				t.Errorf("%v, ε = %g: δ = %g, the truth is %g", losses, epsilon, got, truth)
			}
			if got >= total.Told()*(1+1e-9) {
				if back := total.Epsilon(got); math.Abs(back-epsilon) > 1e-9 {
					t.Errorf("%v: ε = %g at the δ of %g", losses, back, epsilon)
				}
			}
		}
		if total.Epsilon(total.Told()/2) != math.Inf(1) || total.Delta(100) != total.Told() {
			t.Errorf("%v: %g told, and δ(100) = %g", losses, total.Told(), total.Delta(100))
		}
	}
}

// TestToldBesideNormalNoise checks q + (1 − q)δ of the rest, and that its ε is the inverse.
func TestToldBesideNormalNoise(t *testing.T) {
	var total Total
	total.AddMu(0.3)
	total.AddTold(1e-7)
	for _, epsilon := range []float64{0, 0.5, 1, 2} {
		rest := GaussianDelta(epsilon, 0.3)
		want := 1e-7 + (1-1e-7)*rest
		if got := total.Delta(epsilon); got < want*(1-1e-15) || got > want*(1+1e-14) {
			t.Errorf("δ(%g) = %g, want %g", epsilon, got, want)
		}
	}
	if got, want := total.Epsilon(1e-6), GaussianEpsilon(0.3, 9e-7); got < want*(1-1e-6) || got > want*(1+1e-6) {
		t.Errorf("ε = %g, want %g", got, want)
	}
	if got := total.Group(2); got.Told() != 1 || got.Delta(5) != 1 {
		t.Errorf("a group of two: %g told", got.Told())
	}
}

// TestToldTimesAndGroup checks kq and q·Σe^(jε). A count under Laplace noise of −M … M attains the second: the count of
// k units is moved by k, and the k outermost places are impossible without them.
func TestToldTimesAndGroup(t *testing.T) {
	const epsilon, most = 0.7, 12
	weight := func(n int) float64 {
		if max(n, -n) > most {
			return 0
		}
		return math.Exp(-epsilon * math.Abs(float64(n)))
	}
	whole := 0.0
	for n := -most; n <= most; n++ {
		whole += weight(n)
	}
	var one Total
	one.AddPure(epsilon)
	one.AddTold(weight(most) / whole)
	for k := 1; k <= 4; k++ {
		truth := 0.0
		for y := -most; y <= most+k; y++ {
			truth += max(0, weight(y-k)-math.Exp(float64(k)*epsilon)*weight(y)) / whole
		}
		group := one.Group(uint64(k))
		if got := group.Told(); got < truth*(1-1e-12) || got > truth*(1+1e-12) {
			t.Errorf("%d units: %g told, want %g", k, got, truth)
		}
		times := one.Times(uint64(k))
		if got, want := times.Told(), float64(k)*one.Told(); got < want || got > want*(1+1e-15) {
			t.Errorf("%d times: %g told, want %g", k, got, want)
		}
	}
	for _, c := range []struct {
		epsilon, q float64
		k          uint64
		low, high  float64
	}{{1e-9, 1e-6, 1000, 1e-3, 1.01e-3}, {0, 1e-6, 3, 3e-6, 3.1e-6}, {1, 1e-6, 1 << 60, 1, 1}, {2, 0.5, 3, 1, 1}} {
		var total Total
		total.AddPure(c.epsilon)
		total.AddTold(c.q)
		total = total.Group(c.k)
		if got := total.Told(); got < c.low || got > c.high {
			t.Errorf("%+v: %g told", c, got)
		}
	}
	var sum Total
	sum.Add(one)
	sum.Add(one)
	if sum.Told() != 2*one.Told() {
		t.Errorf("a sum has %g told", sum.Told())
	}
	sum.AddTold(1)
	if sum.Told() != 1 || sum.Epsilon(0.999) != math.Inf(1) {
		t.Errorf("certainty: %g told", sum.Told())
	}
}
