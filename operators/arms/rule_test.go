package arms

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
)

// TestIntervalsHold checks Lemma 1 of SPEC.md on releases with noise. The share of runs with the index above the true
// mean is at most e^{−x}, up to 4.8 standard deviations of a share (1e-6).
func TestIntervalsHold(t *testing.T) {
	const runs, x = 4000, 3.0
	for _, records := range []int{2, 16} {
		c := config(ucb, records, 0)
		m := released(c, 1)
		plan := mechtest.Plan(t, m)
		misses := 0
		rng := rand.New(rand.NewPCG(3, uint64(records)))
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
			for range 5 {
				for range records {
					loss := -largest
					if rng.IntN(2) == 0 {
						loss = largest
					}
					if stream.Add(noise.Identity{Offset: int64(run)}, []float64{loss}) {
						u.learn(0, 1, records, stream.Sum(0)[0])
					}
				}
			}
			if u.index(&u.arms[0], x) > 0 {
				misses++
			}
		}
		share := math.Exp(-x)
		if most := share + 4.8*math.Sqrt(share/runs); float64(misses)/runs > most {
			t.Errorf("B = %d: %d of %d indices are above the mean, a share above %g", records, misses, runs, most)
		}
		if misses == 0 {
			t.Errorf("B = %d: no index is above the mean: the interval is far too wide", records)
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
