package arms

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// TestIntervalsHold checks Lemma 1 of SPEC.md on releases with noise, with few rounds and with many, for means in the
// middle of the range and near its ends. The share of runs with the index above the true mean is at most e^{−x}, up to
// 4.8 standard deviations of a share (1e-6).
func TestIntervalsHold(t *testing.T) {
	const runs, x = 2000, 3.0
	for _, w := range []struct {
		records, rounds int
		mean            float64
	}{{16, 5, 0}, {16, 12, -0.46}, {64, 8, 0.45}, {64, 24, 0.48}} {
		c := config(ucb, w.records, 0)
		m := released(c, 1)
		plan := mechtest.Plan(t, m)
		misses := 0
		rng := rand.New(rand.NewPCG(3, uint64(w.records)))
		for run := range runs {
			stream, err := mechanisms.Open(m, plan, [32]byte{byte(run), byte(run >> 8), 1})
			if err != nil {
				t.Fatal(err)
			}
			n, err := noiseOf(stream)
			if err != nil {
				t.Fatal(err)
			}
			u := newUCB(1, 1, n)
			for range w.rounds {
				for range w.records {
					loss := -largest
					if rng.Float64() < 0.5+w.mean {
						loss = largest
					}
					stream.Add(noise.Identity{Offset: int64(run)}, []float64{loss})
				}
				stream.Close()
				u.learn(0, 1, w.records, stream.Sum(0)[0])
			}
			if u.index(&u.arms[0], x) > w.mean {
				misses++
			}
		}
		share := math.Exp(-x)
		if most := share + 4.8*math.Sqrt(share/runs); float64(misses)/runs > most {
			t.Errorf("%+v: %d of %d indices are above the mean, a share above %g", w, misses, runs, most)
		}
		if misses == 0 {
			t.Errorf("%+v: no index is above the mean: the interval is far too wide", w)
		}
	}
}

// TestIndexIsTheLeastMeanThatIsNotExcluded compares the index with its definition (SPEC.md §2), by a search over means.
func TestIndexIsTheLeastMeanThatIsNotExcluded(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 2000 {
		u := newUCB(1, 1, laplace(protection.Event{Exchange: dp.Replace}, math.Exp(rng.NormFloat64())))
		if rng.IntN(3) == 0 {
			u.noise.tail = 0
		}
		a := record{settled: 1 + rng.Uint64N(60)}
		a.answers = a.settled * (1 + rng.Uint64N(64))
		n, x := float64(a.answers), 1+12*rng.Float64()
		a.sum = n * (rng.Float64()*1.2 - 0.6)
		m := min(0.5, a.sum/n)
		excluded := func(c float64) bool {
			variance, tail := 0.25, u.noise.tail*x
			if c > 0 || m < 0 {
				y := max(c, -0.5) // the variance falls with the distance from 0
				if m < 0 {
					y = max(m, -0.5)
				}
				variance = 0.25 - y*y
			}
			if z := x / float64(a.settled); z < 1 {
				tail *= (1 - z/-math.Log1p(-z)) / math.Sqrt(z)
			}
			return n*(m-c) > math.Sqrt(2*x*(n*variance+float64(a.settled)*u.noise.variance))+tail
		}
		low, high := m-1e4, m // the least mean that is not excluded lies between them
		for range 200 {
			if middle := (low + high) / 2; excluded(middle) {
				low = middle
			} else {
				high = middle
			}
		}
		if got := u.index(&a, x); math.Abs(got-high) > 1e-6*(1+math.Abs(high)) {
			t.Fatalf("%+v, x = %g, noise %+v: index %g, want %g", a, x, u.noise, got, high)
		}
	}
}

// TestActionsOfAWorseArmAreBounded checks the bound of Theorem 2 of SPEC.md at its width, on ten arms.
func TestActionsOfAWorseArmAreBounded(t *testing.T) {
	const total = 100_000
	c := config(ucb, 32, 1)
	c.Width = 3
	m := released(c, 1)
	bound := c.actionsBound(0.1, total, laplace(m.Unit, m.Budget.Epsilon)) + 2/(32.0*32)*math.Pi*math.Pi/6
	regret := world{cost: 0.5}.regret(open(t, c, m, 1, false), total, 1)
	if worse := regret / 0.1 / 9; !(worse <= bound) || !(worse > bound/40) {
		t.Errorf("%.0f plays of a worse arm, the bound is %.0f", worse, bound)
	}
}

// TestProbabilitiesAreThoseOfDraws checks that the probability that a draw returns is the frequency of its arm.
func TestProbabilitiesAreThoseOfDraws(t *testing.T) {
	const draws = 20_000
	c := config(exp3, 2, 0)
	m := released(c, 1)
	stream := mechtest.Open(t, m, [32]byte{5})
	n, err := noiseOf(stream)
	if err != nil {
		t.Fatal(err)
	}
	w := newExp3(4, 2, n)
	w.losses = []float64{0, 3, -4, 9}
	chances, counts := make([]float64, 4), make([]float64, 4)
	for i := range draws {
		arm, chance := w.next(stream)
		chances[arm], counts[arm] = chance, counts[arm]+1
		stream.Add(noise.Identity{Offset: int64(i)}, nil)
		stream.Close()
	}
	all := 0.0
	for arm, chance := range chances {
		all += chance
		// 5.4 standard deviations of a share fail with probability below 1e-7 for each of the four arms.
		if off := math.Abs(counts[arm]/draws - chance); off > 5.4*math.Sqrt(chance*(1-chance)/draws) {
			t.Errorf("arm %d: drawn %g of %d times, its chance is %g", arm, counts[arm], draws, chance)
		}
	}
	if math.Abs(all-1) > 1e-12 {
		t.Errorf("chances %v add up to %v", chances, all)
	}
}
