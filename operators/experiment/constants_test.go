package experiment

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// sinceStart returns the covariance of the first increments of a stream whose noise is never reset: of draws of weights
// b_0 = 1 and b_j = Σ_k r_k·q_k^{j−1}, and of w more in each.
func sinceStart(n *Noise, looks int, w float64) *mat.SymDense {
	b, g := make([]float64, looks), mat.NewSymDense(looks, nil)
	b[0] = 1
	for k, r := range n.Residues {
		for j := 1; j < looks; j++ {
			b[j] += r * math.Pow(n.Poles[k], float64(j-1))
		}
	}
	for i := range looks {
		for j := i; j < looks; j++ {
			sum := 0.0
			for draw := range i + 1 {
				sum += b[i-draw] * b[j-draw]
			}
			g.SetSym(i, j, sum)
		}
		g.SetSym(i, i, g.At(i, i)+w)
	}
	return g
}

// TestBalanceIsTheMeanOfEValues compares Balance with its definition: the mean over the treatments of the e-value of
// n_k/π_k − n_0/π_0, whose increments vary by (1/π_k + 1/π_0)·B under the settings. The estimate is first moved
// towards zero by the rounding of both counts.
func TestBalanceIsTheMeanOfEValues(t *testing.T) {
	const looks, events = 60, 50
	s := Settings{
		Propensities: []float64{0.2, 0.3, 0.5}, Alpha: 0.05, Near: 0.3, Target: 2000, Events: events,
		Noise: *horizon100(), Count: 3, Value: 4, Rounding: 0.1,
	}
	x, arms := New(s), make([]Arm, 3)
	var counts [3][looks]float64
	for l := range looks {
		for k, p := range s.Propensities {
			counts[k][l] = p*events + math.Sin(float64((k+1)*l)) + 0.9*float64(k) - 1
			arms[k] = Arm{Count: counts[k][l]}
		}
		x.Take(arms)
	}
	steps := int(s.Target / events)
	spread, want := mat.Sum(sinceStart(&s.Noise, steps, 0)), 0.0
	level := 2 * math.Log(2/s.Alpha) // of two contrasts
	q := s.Propensities[0]
	for k, p := range s.Propensities[1:] {
		noise := s.Count * s.Count * (1/(p*p) + 1/(q*q))
		w := (1/p + 1/q) * events / noise
		y := make([]float64, looks)
		for l := range y {
			y[l] = (counts[k+1][l]/p - counts[0][l]/q) / math.Sqrt(noise)
		}
		sum, information := squares(t, sinceStart(&s.Noise, looks, w), y, events)
		estimate := math.Abs(sum/information) - (1/p+1/q)*s.Rounding/events/math.Sqrt(noise)
		if estimate < 0 {
			t.Fatalf("treatment %d: rounding alone", k+1)
		}
		r := s.Target * s.Target / (w*float64(steps) + spread) / (level + math.Log(1+level))
		total := information + r
		want += math.Sqrt(r/total) * math.Exp(math.Pow(estimate*information, 2)/(2*total)) / 2
	}
	if got := x.Balance(); math.Abs(got/want-1) > 1e-6 || want < 1.5 {
		t.Errorf("balance %g, want %g", got, want)
	}
}

// TestArmsAreUnfitAboveAThousand lets one arm get more events than its share, and checks at each look that arms are
// unfit if, and only if, an e-value of their counts was above 1000.
func TestArmsAreUnfitAboveAThousand(t *testing.T) {
	x := New(halves(0.1, 100))
	most, fit, unfit := 1.0, 0, 0
	for range 900 {
		x.Take([]Arm{{Count: 48.5}, {Count: 51.5}})
		most = max(most, x.Balance())
		switch {
		case most > 100 && most <= 1000:
			fit++
		case most > 1000 && most < 1e5:
			unfit++
		}
		if x.Balanced() != (most <= 1000) {
			t.Fatalf("balanced %v at an e-value of %g", x.Balanced(), most)
		}
	}
	if fit < 2 || unfit < 2 {
		t.Errorf("%d looks just below 1000, and %d just above", fit, unfit)
	}
}

// equals returns arms of equal counts, of which the second converts more often, without noise.
func equals(arms int, excess float64) []Arm {
	out := make([]Arm, arms)
	for k := range out {
		n := 100 / float64(arms)
		out[k] = Arm{Count: n, Value: n * (2*0.1 - 1)}
	}
	out[1].Value += 2 * excess
	return out
}

// TestArmsShareAlpha checks three treatments. One is found better where its one-sided e-value reaches 3/α, and a lift
// is rejected where the sequence at α/3 excludes it.
func TestArmsShareAlpha(t *testing.T) {
	s := halves(0.1, 100)
	s.Propensities, s.Lift = []float64{0.25, 0.25, 0.25, 0.25}, true
	x, arms, below, most := New(s), equals(4, 0.4), 0, 0.0
	for range 2000 {
		x.Take(arms)
		if !x.Ready() {
			continue
		}
		f := x.effect(1).evidence()
		a := f.information + f.mixing
		e := 2 * distuv.UnitNormal.CDF(f.sum/math.Sqrt(a)) * math.Sqrt(f.mixing/a) * math.Exp(f.sum*f.sum/(2*a))
		most = max(most, e)
		if most > 30 && most < 59 {
			below++ // enough for one contrast, or for half of the three
		}
		if x.Better(1) != (most >= 60) && math.Abs(most/60-1) > 1e-9 {
			t.Fatalf("better %v at an e-value of %g", x.Better(1), most)
		}
		if most > 1e4 {
			break
		}
	}
	if below < 2 || most < 60 {
		t.Errorf("%d looks below 60, at last %g", below, most)
	}
	between := 0
	for theta := 0.3; theta < 3; theta *= 1.002 {
		f := x.ratio(1, theta)
		a := f.information + f.mixing
		half := func(alpha float64) float64 {
			return math.Sqrt(a*(math.Log(a/f.mixing)+2*math.Log(1/alpha)))/f.information*f.scale + f.error
		}
		away := math.Abs(f.estimate())
		if away > half(s.Alpha) && away < half(s.Alpha/3) {
			between++
		}
		if x.rejects(1, theta) != (away > half(s.Alpha/3)) {
			t.Errorf("a lift of %g is %g away, of %g: rejected %v", theta, away, half(s.Alpha/3), x.rejects(1, theta))
		}
	}
	if between < 2 {
		t.Errorf("%d lifts that one contrast would reject", between)
	}
}

// TestMixturesAreOfOneContrast compares r of each ratio with I/(c + ln(1 + c)), c = 2 ln(3/α), where I is the
// information of Target events.
func TestMixturesAreOfOneContrast(t *testing.T) {
	s := halves(0.1, 100)
	s.Propensities, s.Target, s.Noise = []float64{0.25, 0.25, 0.25, 0.25}, 9950, *horizon100()
	x := New(s)
	spread, c := mat.Sum(sinceStart(&s.Noise, 100, 0)), 2*math.Log(3/s.Alpha)
	for i, w := range x.bank.ratios {
		if want := 1e4 * 1e4 / (w*100 + spread) / (c + math.Log(1+c)); math.Abs(x.mixing[i]/want-1) > 1e-9 {
			t.Errorf("w = %g: r = %g, want %g", w, x.mixing[i], want)
		}
	}
}

// TestConstantsOfTheirFormulas checks constants against the formulas that their comments give: the grid of lifts ends
// at 8, and between is −ζ(½)/√(2π), with ζ(½) from the alternating series of η(½) = (1 − √2)·ζ(½).
func TestConstantsOfTheirFormulas(t *testing.T) {
	if last := math.Pow(liftRatio, lifts-1) / maxLift; math.Abs(last/maxLift-1) > 1e-12 {
		t.Errorf("the last lift is %g", last)
	}
	sum, sign := 0.0, 1.0
	for n := 1.0; n < 1e6; n++ {
		sum += sign * (1/math.Sqrt(n) + 1/math.Sqrt(n+1)*-1) / 2 // averages of neighbouring terms converge
		sign = -sign
	}
	eta := 0.5 + sum
	if want := -eta / (1 - math.Sqrt2) / math.Sqrt(2*math.Pi); math.Abs(between-want) > 5e-5 {
		t.Errorf("between is %g, want %g", between, want)
	}
	s := halves(0.1, 200)
	s.Propensities = []float64{0.25, 0.25, 0.25, 0.25}
	z := distuv.UnitNormal.Quantile(1-0.05/6) + distuv.UnitNormal.Quantile(0.8)
	variance := 4 * (0.1*0.9 + 0.115*0.885)
	if got, want := s.Plan(1, 0.015, 0, 0.8, 1).OneLook, z*z*variance/(0.015*0.015); math.Abs(got-want) > 1 {
		t.Errorf("one look at one of three treatments: %g, want %g", got, want)
	}
}
