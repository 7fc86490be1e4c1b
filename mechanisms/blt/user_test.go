package blt

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/rational"
)

// referenceTrain computes train one step and one event at a time, with d by its recurrence.
func referenceTrain(d []*big.Float, age, separation, count uint64) *big.Float {
	sum := new(big.Float).SetPrec(400)
	for j := range age {
		x := new(big.Float).SetPrec(400)
		for r := uint64(0); r < count && r <= j/separation; r++ {
			x.Add(x, d[j-r*separation])
		}
		sum.Add(sum, x.Mul(x, x))
	}
	return sum
}

func TestTrainIsItsDoubleSum(t *testing.T) {
	const terms = 60
	for _, f := range []Filter{handmade(t), fitFilter(t, 64, 0.3, 3), fitFilter(t, MaxWindow, 1, 4)} {
		r, err := NewResponse(f)
		if err != nil {
			t.Fatal(err)
		}
		_, _, d := series(f, terms)
		for _, separation := range []uint64{1, 2, 3, 7, 16, 59, 60, 61, 1 << 62} {
			for _, count := range []uint64{1, 2, 5, 1 << 40} {
				// Ages below s, at and near multiples of s, and after the last event.
				for _, age := range []uint64{1, 2, 6, 7, 8, 15, 21, 32, 60} {
					in := r.majorant.Train(age, separation, count)
					sumtest.Inside(t, fmt.Sprintf("%v: A=%d s=%d k=%d", f, age, separation, count),
						referenceTrain(d, age, separation, min(count, terms)), in)
				}
			}
		}
	}
}

// places returns random places at least s apart in 0 … length − 1, such that the closest spacing also occurs.
func places(rng *rand.Rand, separation, length int) (out []int) {
	for p := rng.IntN(2) * rng.IntN(separation); p < length; p += separation {
		out = append(out, p)
		if rng.IntN(3) == 0 {
			p += rng.IntN(separation + 2)
		}
	}
	return out
}

// dense returns µ² for events at given places, in units of (Δ/s)², by dense linear algebra. Releases up to the age are
// normal with covariance BBᵀ, B the lower triangular Toeplitz matrix of b, and their means differ by the number of
// events so far.
func dense(t *testing.T, f Filter, places []int, age int) float64 {
	t.Helper()
	b := impulse(f, age)
	toeplitz := mat.NewDense(age, age, nil)
	for i := range age {
		for j := range i + 1 {
			toeplitz.Set(i, j, b[i-j])
		}
	}
	covariance := mat.NewSymDense(age, nil)
	covariance.SymOuterK(1, toeplitz)
	means := mat.NewVecDense(age, nil)
	for _, p := range places {
		for i := p; i < age; i++ {
			means.SetVec(i, means.AtVec(i)+1)
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(covariance) {
		t.Fatal("covariance is singular")
	}
	var solved mat.VecDense
	if err := factor.SolveVecTo(&solved, means); err != nil {
		t.Fatal(err)
	}
	return mat.Dot(means, &solved)
}

// TestUserLossIsThatOfTheWorstPlaces compares mechanisms/PROOF.md, Theorem 1 without η with dense linear algebra. No
// placement of events may exceed the claim. The placement 0, s, 2s, … must attain it, and must exceed a claim that
// accounts for one event less.
func TestUserLossIsThatOfTheWorstPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, f := range []Filter{handmade(t), fitFilter(t, 16, 0, 2), fitFilter(t, 64, 0.3, 3)} {
		r, err := NewResponse(f)
		if err != nil {
			t.Fatal(err)
		}
		claim := func(age, separation, count int) float64 {
			x, _ := r.majorant.Train(uint64(age), uint64(separation), uint64(count)).Hi.Float64()
			return x
		}
		for _, window := range []int{1, 5, 12} {
			for _, separation := range []int{1, 2, 4, 5, 11, 12, 13} {
				k := int(rational.Events(uint64(window), uint64(separation)))
				for _, age := range []int{1, window, 2 * window, 3*window + 1} {
					of, all := claim(age, separation, k), claim(age, separation, int(rational.Events(uint64(age), uint64(separation))))
					for range 20 {
						if got := dense(t, f, places(rng, separation, window), age); got > of*(1+1e-9) {
							t.Fatalf("W=%d s=%d A=%d: µ² = %g, claimed %g", window, separation, age, got, of)
						}
						if got := dense(t, f, places(rng, separation, age), age); got > all*(1+1e-9) {
							t.Fatalf("s=%d A=%d: µ² of all events = %g, claimed %g", separation, age, got, all)
						}
					}
					var worst, worstAll []int
					for p := 0; p < age; p += separation {
						if worstAll = append(worstAll, p); p < window {
							worst = append(worst, p)
						}
					}
					got, gotAll := dense(t, f, worst, age), dense(t, f, worstAll, age)
					if math.Abs(got-of) > 1e-9*of || math.Abs(gotAll-all) > 1e-9*all {
						t.Errorf("W=%d s=%d A=%d: the worst places have %g and %g, claimed %g and %g", window, separation, age, got, gotAll, of, all)
					}
					if age >= window && k > 1 && !(got > claim(age, separation, k-1)*(1+1e-6)) {
						t.Errorf("W=%d s=%d A=%d: not caught: %d events accounted of %d", window, separation, age, k-1, k)
					}
				}
			}
		}
	}
}

// TestExactUserShiftIsWithinTheClaim checks the complete claim with the real carry. The largest shift over all
// histories, when the events of one user change by ±Δ, must be within µ, and must exceed the µ computed without η. The
// test enumerates histories with draws up to 3 s.
func TestExactUserShiftIsWithinTheClaim(t *testing.T) {
	red := 0
	for _, f := range []Filter{handmade(t), fitFilter(t, 4, 0.3, 2), fitFilter(t, 1024, 0.3, 4)} {
		for _, c := range []struct {
			s                 float64
			delta             int64
			separation, steps int
			signs             []int64
		}{{1, 1, 1, 4, []int64{1, 1, 1, 1}}, {1, 1, 2, 4, []int64{1, 0, 1}}, {1, 1, 2, 4, []int64{0, 1, 0, -1}}, {
			2, 3, 3, 4,
			[]int64{1, 0, 0, 1},
		}, {1.5, 2, 1, 3, []int64{1, -1, 1}}} {
			moved, worst := map[int]int64{}, 0.0
			for p, sign := range c.signs {
				moved[p] = sign * c.delta
			}
			law{
				filter: f, cell: func(int64) float64 { return 0 }, reach: int64(3 * c.s), moved: fixed(moved),
				visit: func(_, _, shift float64) {
					worst = max(worst, math.Sqrt(shift)/c.s)
				},
			}.walk(world{}, world{}, make([]int64, c.steps), 0, 0, 0, 0)
			l := UserLoss{
				Loss:       Loss{Filter: f, Square: uint64(c.delta * c.delta), N: 1, Scale: noise.ScaleUp(c.s)},
				Separation: uint64(c.separation), Window: uint64(c.steps),
			}
			if claim := l.Mu(uint64(c.steps)); worst > claim*(1+1e-12) || l.MuAll(uint64(c.steps)) != claim {
				t.Errorf("%+v: a history realises µ = %g, claimed %g, over all events %g", c, worst, claim, l.MuAll(uint64(c.steps)))
			}
			r, err := NewResponse(f)
			if err != nil {
				t.Fatal(err)
			}
			train, _ := r.majorant.Train(uint64(c.steps), uint64(c.separation),
				rational.Events(uint64(c.steps), uint64(c.separation))).Hi.Float64()
			if worst > float64(c.delta)*math.Sqrt(train)/c.s*(1+1e-9) {
				red++
			}
		}
	}
	if red == 0 {
		t.Error("a claim without η is never too small: the test tests nothing")
	}
}

// TestUserMu checks that µ at user level is the formula of Theorem 1, and that for one event in a window it equals the
// event-level µ, up to the triangle inequality in η. µ must grow with age, and a scale must prove the loss that it was
// computed for.
func TestUserMu(t *testing.T) {
	for _, f := range []Filter{handmade(t), fitFilter(t, 1024, 0.3, 4)} {
		event := Loss{Filter: f, Square: 1 << 50, N: 27, Scale: noise.Scale{Mant: 3, Exp: 20}}
		l := UserLoss{Loss: event, Window: 1024, Separation: 100}
		_, beta, d := series(f, 300)
		eta, _ := f.Slack().Float64()
		train, rest, absolute := 0.0, 0.0, 0.0
		for j := range 300 {
			x := 0.0
			for r := 0; r <= j/100; r++ {
				y, _ := d[j-100*r].Float64()
				x += y
			}
			train, rest = train+x*x, rest+absolute*absolute
			y, _ := beta[j].Float64()
			absolute += math.Abs(y)
		}
		want := (math.Sqrt(float64(l.Square)*train) + 2*eta*math.Sqrt(27)*math.Sqrt(rest)) / (3 << 20)
		if got := l.Mu(300); math.Abs(got-want) > 1e-12*want || l.MuAll(300) != got {
			t.Errorf("µ(300) = %g, %g over all events, want %g", got, l.MuAll(300), want)
		}
		single := UserLoss{Loss: event, Window: 1024, Separation: 1024}
		for _, age := range []uint64{1, 1024, 1 << 30} {
			if x, y := single.Mu(age), event.Mu(age); x < y*(1-1e-15) || x > y*(1+1e-3) {
				t.Errorf("µ(%d) of one event %g, of a user with one event %g", age, y, x)
			}
		}
		before, beforeAll := 0.0, 0.0
		for age := uint64(1); age != 0; age <<= 7 {
			x, all := l.Mu(age), l.MuAll(age)
			if !(x > before && all > beforeAll && all >= x) || age <= 1024 && x != all {
				t.Errorf("µ(%d) = %g, over all events %g, after %g and %g", age, x, all, before, beforeAll)
			}
			before, beforeAll = x, all
		}
		for _, mu := range []float64{1e-3, 0.2, math.Pi} {
			scale, err := l.ScaleFor(1024, mu)
			if err != nil {
				t.Fatal(err)
			}
			made := l
			made.Scale = scale
			if got := made.Mu(1024); got > mu || got < mu*(1-1e-15) {
				t.Errorf("scale for µ = %g proves %g", mu, got)
			}
		}
	}
	if l := (UserLoss{
		Loss: Loss{Filter: handmade(t), Square: 1, N: 1, Scale: noise.Scale{Mant: 1}}, Window: 8, Separation: 2,
	}); l.Mu(0) != 0 || l.MuAll(0) != 0 {
		t.Error("µ at age 0")
	}
}

func BenchmarkUserMu(b *testing.B) {
	event := Loss{Filter: fitFilter(b, 1024, 0.3, 4), Square: 1 << 50, N: 27, Scale: noise.Scale{Mant: 3, Exp: 20}}
	l := UserLoss{Loss: event, Window: 1024, Separation: 10}
	for _, age := range []uint64{1024, 102_400, 1 << 40} {
		b.Run(fmt.Sprintf("A=%d", age), func(b *testing.B) {
			for b.Loop() {
				l.MuAll(age)
			}
		})
	}
	b.Run("event", func(b *testing.B) {
		for b.Loop() {
			event.Mu(1024)
		}
	})
}
