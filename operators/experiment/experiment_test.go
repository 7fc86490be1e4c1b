package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// squares returns B and A of increments y under a dense covariance.
func squares(t *testing.T, g *mat.SymDense, y []float64, events float64) (sum, information float64) {
	t.Helper()
	var factor mat.Cholesky
	if !factor.Factorize(g) {
		t.Fatal("no factor")
	}
	ones := mat.NewVecDense(len(y), nil)
	for i := range y {
		ones.SetVec(i, events)
	}
	var white mat.VecDense
	if err := factor.SolveVecTo(&white, ones); err != nil {
		t.Fatal(err)
	}
	return mat.Dot(&white, mat.NewVecDense(len(y), y)), mat.Dot(&white, ones)
}

// TestFindingsAreGeneralisedLeastSquares compares effects, means and lifts with generalised least squares over the
// dense covariance v·B·I + s²·K. v is computed from the totals, increased by one standard deviation of its noise, and
// rounded up to the grid. The half width includes the bound on rounding.
func TestFindingsAreGeneralisedLeastSquares(t *testing.T) {
	const looks, events = 100, 50
	for name, c := range map[string]struct {
		start      uint64
		period     uint64
		propensity []float64
		square     float64
	}{
		"from the stream's start":    {0, 0, []float64{0.5, 0.5}, 0},
		"from within, over a reset":  {30, 64, []float64{0.2, 0.3, 0.5}, 0},
		"with squares":               {5, 64, []float64{0.4, 0.6}, 30},
		"unequal arms":               {5, 64, []float64{0.1, 0.2, 0.7}, 0},
		"unequal arms, with squares": {0, 0, []float64{0.1, 0.9}, 30},
	} {
		t.Run(name, func(t *testing.T) {
			s := Settings{
				Propensities: c.propensity, Alpha: 0.05, Near: 0.3, Target: 2000, Events: events, Start: c.start, Lift: true,
				Noise: *memory1024(), Count: 20, Value: 25, Square: c.square, Rounding: 1e-3,
			}
			s.Noise.Period = c.period
			x, src := New(s), newSource(&s, 7, constant(0.3, 0.4))
			arms := make([]Arm, len(c.propensity))
			taken := make([][]Arm, 0, looks)
			for range looks {
				src.step(arms)
				for k := range arms {
					arms[k].Square = arms[k].Count / 2 // squares of outcomes −1 and 1
				}
				x.Take(arms)
				taken = append(taken, slices.Clone(arms))
			}
			k, _ := covariance(&s.Noise, int(c.start), 0, looks, 0)
			spread := mat.Sum(k)
			q, m := c.propensity[0], s.Near
			total := float64(looks * events)
			second := func(arm int, centre float64) (moment, noise float64) { // second moment of an arm, −1: of all
				n, value, square, pi := 0.0, 0.0, 0.0, 0.0
				for i, p := range c.propensity {
					if arm >= 0 && i != arm {
						continue
					}
					for _, a := range taken {
						n, value, square = n+a[i].Count, value+a[i].Value, square+a[i].Square
					}
					pi += p
				}
				weights := [3]float64{0.5 - centre, 0.5 - centre, 0} // holds because y² = y
				if c.square > 0 {
					weights = [3]float64{3.0/8 - centre, 0.5 - centre, 1.0 / 4}
				}
				moment = (weights[0]*n+weights[1]*value+weights[2]*square)/(pi*total) + centre*centre
				for i, deviation := range [3]float64{s.Count, s.Value, s.Square} {
					noise += math.Pow(weights[i]*deviation/(pi*total), 2) * spread
				}
				return moment, noise
			}
			for _, form := range []combination{
				{1, m, 1, false}, {1, m, 0, false}, {0, m, 0, false}, {1, 1.3 * m, 1.3, true}, {1, 0.4 * m, 0.4, true},
			} {
				own := c.propensity[form.arm]
				noise := func(centre float64) float64 {
					return math.Pow(s.Value/2, 2) + math.Pow((0.5-centre)*s.Count, 2)
				}
				square := noise(form.centre)/(own*own) + math.Pow(form.factor/q, 2)*noise(m)
				v1, guard1 := second(form.arm, form.centre)
				v0, guard0 := second(0, m)
				v := v1/own + form.factor*form.factor*v0/q
				if form.factor > 0 {
					here, _ := second(-1, form.centre)
					there, _ := second(-1, m)
					v = max(v, here/own+form.factor*form.factor*there/q)
				}
				v += math.Sqrt(guard1/(own*own) + math.Pow(form.factor, 4)*guard0/(q*q))
				i, _ := slices.BinarySearch(x.bank.ratios, v*events/square)
				g := mat.NewSymDense(looks, nil)
				for a := range looks {
					for b := a; b < looks; b++ {
						g.SetSym(a, b, square*k.At(a, b))
					}
					g.SetSym(a, a, g.At(a, a)+x.bank.ratios[i]*square)
				}
				y := make([]float64, looks)
				for l, a := range taken {
					sum := func(arm int, centre float64) float64 { return a[arm].Value/2 + (0.5-centre)*a[arm].Count }
					y[l] = sum(form.arm, form.centre)/own - form.factor*sum(0, m)/q
				}
				sum, information := squares(t, g, y, events)
				f := x.find(form)
				rounding := ((0.5+math.Abs(0.5-form.centre))/own + form.factor*(0.5+math.Abs(0.5-m))/q) * 1e-3 / events
				if math.Abs(f.estimate()-sum/information) > 1e-9 || math.Abs(f.information/square/information-1) > 1e-9 ||
					math.Abs(f.error-rounding) > 1e-12 {
					t.Errorf("%+v: %g with %g, rounding %g, want %g with %g, %g", form, f.estimate(), f.information/square, f.error,
						sum/information, information, rounding)
				}
			}
			// The test compares Recent, as it was computed when looks was 64, with the dense weight at Near.
			near := m * (1 - m) * q * events / (math.Pow(s.Value/2, 2) + math.Pow((0.5-m)*s.Count, 2))
			g, _ := covariance(&s.Noise, int(c.start), 0, 64, near)
			newer := make([]float64, 64)
			for l := 32; l < 64; l++ {
				newer[l] = events
			}
			sum, information := squares(t, g, newer, events)
			if math.Abs(x.Recent()-sum/information) > 1e-9 {
				t.Errorf("recent %g, want %g", x.Recent(), sum/information)
			}
		})
	}
}

// TestLiftsInvertTheirTests checks that a lift is in the set exactly where the sequence of its contrast contains 0.
func TestLiftsInvertTheirTests(t *testing.T) {
	for seed, rates := range [][]float64{{0.1, 0.11}, {0.3, 0.1}, {0.02, 0.02}, {0.002, 0.01}} {
		s := halves(0.1, 100)
		s.Lift = true
		x, src := New(s), newSource(&s, uint64(seed), constant(rates...))
		arms := make([]Arm, 2)
		for range 200 {
			src.step(arms)
			x.Take(arms)
		}
		r := x.Ratio(1)
		for theta := 1.0 / 8; theta < 8; theta *= 1.003 {
			inside := theta > r.Low && theta < r.High
			f := x.ratio(1, theta)
			total := f.information + f.mixing
			radius := math.Sqrt(total*(math.Log(total/f.mixing)+2*math.Log(1/s.Alpha)))/f.information*f.scale + f.error
			if away := math.Abs(f.estimate()); math.Abs(away/radius-1) > 1e-9 && (away > radius) != x.rejects(1, theta) {
				t.Errorf("rates %v: %g is rejected: %v, %g away of %g", rates, theta, x.rejects(1, theta), away, radius)
			}
			if near := math.Min(math.Abs(theta-r.Low), math.Abs(theta-r.High)); near > 1e-4 && inside == x.rejects(1, theta) {
				t.Errorf("rates %v: %g of %+v is rejected: %v", rates, theta, r, x.rejects(1, theta))
				break
			}
		}
		if r.High == Unbounded && x.rejects(1, maxLift) || r.Low == 0 && x.rejects(1, 1/maxLift) || !(r.Low <= r.High) {
			t.Errorf("rates %v: %+v", rates, r)
		}
	}
}

// TestGridAndLevels checks that a look uses the filter of the next larger ratio, and that the sequences of K − 1
// contrasts share α.
func TestGridAndLevels(t *testing.T) {
	s := halves(0.1, 100)
	s.Propensities, s.Rounding = []float64{0.25, 0.25, 0.25, 0.25}, 0.01
	x := New(s)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		w := x.bank.ratios[0] * math.Pow(x.bank.ratios[len(x.bank.ratios)-1]/x.bank.ratios[0], rng.Float64())
		if i := above(x.bank.ratios, w); x.bank.ratios[i] < w || i > 0 && x.bank.ratios[i-1] >= w {
			t.Fatalf("%g reads %g", w, x.bank.ratios[i])
		}
	}
	for i, w := range x.bank.ratios[1:] {
		if ratio := w / x.bank.ratios[i]; ratio > coarse*1.0001 || ratio < fine*0.9999 {
			t.Errorf("ratio %g", ratio)
		}
	}
	src, arms := newSource(&s, 1, constant(0.1)), make([]Arm, 4)
	for range 50 {
		src.step(arms)
		x.Take(arms)
	}
	f := x.effect(2)
	a := f.information + f.mixing
	want := math.Sqrt(a*(math.Log(a/f.mixing)+2*math.Log(3/0.05)))/f.information*f.scale + f.error
	if e := x.Effect(2); math.Abs((e.High-e.Low)/2-want) > 1e-12 {
		t.Errorf("half width %g, want %g", (e.High-e.Low)/2, want)
	}
	if !slices.Contains(s.mixings(s.grid()), f.mixing) {
		t.Errorf("mixing %g is not that of settings", f.mixing)
	}
}

// TestStateAndBits checks that State is complete: another experiment that gets it continues with equal bits. The bits
// must never change.
func TestStateAndBits(t *testing.T) {
	s := halves(0.1, 100)
	s.Lift, s.Noise, s.Start = true, *memory1024(), 40
	s.Noise.Period = 64
	x, src := New(s), newSource(&s, 3, constant(0.1, 0.12))
	arms := make([]Arm, 2)
	for range 100 {
		src.step(arms)
		for k := range arms { // these draws are equal on every CPU
			arms[k] = Arm{math.Floor(arms[k].Count), math.Floor(arms[k].Value), 0}
		}
		y := New(s)
		copy(y.State(), x.State())
		if err := y.Check(s.Start + x.Looks()); err != nil {
			t.Fatal(err)
		}
		x.Take(arms)
		y.Take(arms)
		if !slices.Equal(x.State(), y.State()) || x.Effect(1) != y.Effect(1) || x.Ratio(1) != y.Ratio(1) {
			t.Fatal("another future")
		}
	}
	if x.Check(s.Start+x.Looks()+1) == nil {
		t.Error("a state of another step is taken")
	}
	x.State()[5] = math.NaN()
	if x.Check(s.Start+x.Looks()) == nil {
		t.Error("a state that is no number is taken")
	}
	x, hash := New(s), sha256.New()
	for l := range 100 {
		z := float64(l % 9)
		x.Take([]Arm{{50 + z, -40 + 3*z, 0}, {48 - z, -30 - 2*z, 0}})
		for _, v := range []any{x.Effect(1), x.Mean(0), x.Ratio(1), x.Evidence(1), x.Balance(), x.Recent()} {
			_ = binary.Write(hash, binary.LittleEndian, v) // writing to a hash never fails
		}
	}
	if got, want := hex.EncodeToString(hash.Sum(nil)[:16]), "aae640b78d8e96b3c5a506e057ce967f"; got != want {
		t.Errorf("%s, stored %s", got, want)
	}
}

func TestALookDoesNotAllocate(t *testing.T) {
	s := halves(0.1, 100)
	s.Lift, s.Start, s.Announced = true, 120, 100
	x, arms := New(s), []Arm{{50, -40, 0}, {50, -38, 0}}
	for range 20 {
		x.Take(arms)
	}
	if n := testing.AllocsPerRun(20, func() {
		x.Take(arms)
		x.Effect(1)
		x.Ratio(1)
		x.Evidence(1)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestEvidenceSubtractsRounding checks that e-values use the estimate closest to zero that the bound on rounding
// allows.
func TestEvidenceSubtractsRounding(t *testing.T) {
	for _, c := range []struct{ estimate, want float64 }{{0.3, 0.25}, {-0.3, -0.25}, {0.04, 0}, {-0.04, 0}} {
		f := found{reading{sum: 8 * c.estimate / 2, information: 8, mixing: 1}, 2, 0.05}
		if got := f.evidence(); math.Abs(got.sum-8*c.want/2) > 1e-12 || got.information != 8 {
			t.Errorf("estimate %g: B of %g, want %g", c.estimate, got.sum, 8*c.want/2)
		}
	}
}
