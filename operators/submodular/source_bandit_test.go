package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// coins choose which of T events explore, independently of data.
type coins struct {
	gamma float64
	left  int // number of explorations that are still allowed
	after int // number of events to come, if the number of explorations is drawn beforehand; otherwise −1
}

// capped returns coins of probability γ that stop after most explorations. The guarantee is then exact, without the
// e^{−8T^{1/3}} of the source paper.
func capped(gamma float64, most int) *coins { return &coins{gamma: gamma, left: most, after: -1} }

// sampled draws the number of explorations beforehand, and chooses their events one by one. It stores two numbers,
// while the source paper's B.2 needs a memory of T^{2/3}.
func sampled(gamma float64, events int, rng *rand.Rand) *coins {
	c := &coins{gamma: gamma, after: events}
	for range events {
		if rng.Float64() < gamma {
			c.left++
		}
	}
	return c
}

func (c *coins) next(rng *rand.Rand) bool {
	chance := c.gamma
	if c.after >= 0 {
		chance = float64(c.left) / float64(c.after)
		c.after--
	}
	if c.left == 0 || rng.Float64() >= chance {
		return false
	}
	c.left--
	return true
}

// bandit is Algorithm 3 (BanditDP) of the source paper. It plays the set of its experts and learns nothing from it,
// except in explorations. An exploration gives one expert the value of one element after the set before it; then all
// experts draw anew. If experts draw at each event, this is Streeter and Golovin's algorithm without privacy, and the
// paper's variant B.1 with privacy.
type bandit struct {
	*experts
	coins  *coins
	direct bool
	given  [][]int // sets to draw in place of the experts' own, the first one next
}

func newBandit(elements, pick int, eta float64, c *coins, seed uint64) *bandit {
	b := &bandit{experts: newExperts(facility, elements, pick, 1, eta, seed), coins: c}
	b.redraw()
	return b
}

func (b *bandit) redraw() {
	for i := range b.set {
		b.hedges[i].probabilities(b.probabilities)
		b.set[i] = draw(b.rng, b.probabilities)
	}
	if len(b.given) > 0 {
		copy(b.set, b.given[0])
		b.given = b.given[1:]
	}
}

// play plays one event with the given set values, and returns the set that it played.
func (b *bandit) play(value func(set []int) float64) (played []int, explored bool) {
	played = slices.Clone(b.set)
	if explored = b.coins.next(b.rng); explored {
		i, a := b.rng.IntN(len(b.set)), b.rng.IntN(len(b.probabilities))
		played = append(played[:i], a)
		b.hedges[i].scores[a] += max(0, min(1, value(played)))
	}
	if explored || b.direct {
		b.redraw()
	}
	return played, explored
}

// chiSquare returns Σ (seen − want)²/want, and the limit that it exceeds with probability at most 1e-9. The limit is df
// + 2√(df·x) + 2x at x = ln 1e9 (Laurent and Massart, "Adaptive estimation of a quadratic functional by model
// selection", Annals of Statistics 28, 2000, Lemma 1).
func chiSquare(seen, want []float64) (got, most float64) {
	for i, n := range seen {
		got += (n - want[i]) * (n - want[i]) / want[i]
	}
	df, x := float64(len(seen)-1), math.Log(1e9)
	return got, df + 2*math.Sqrt(df*x) + 2*x
}

// TestExplorationsAreOfTheirLaw checks that explorations drawn beforehand have the law of coins: their number is
// binomial and their gaps are geometric. Capped coins must never explore more often than the cap. The sample is 40 000
// streams of 12 events; a false rejection has probability below 1e-9 for each law.
func TestExplorationsAreOfTheirLaw(t *testing.T) {
	const events, runs, gamma, most = 12, 40000, 0.3, 4
	rng := rand.New(rand.NewPCG(5, 55))
	numbers, gaps := make([]float64, events+1), make([]float64, events+1)
	for range runs {
		c, number, first := sampled(gamma, events, rng), 0, events
		counter, counted := capped(gamma, most), 0
		for at := range events {
			if c.next(rng) {
				number, first = number+1, min(first, at)
			}
			if counter.next(rng) {
				counted++
			}
		}
		numbers[number]++
		gaps[first]++
		if counted > most {
			t.Fatalf("%d explorations, %d are allowed", counted, most)
		}
	}
	binomial, geometric := make([]float64, events+1), make([]float64, events+1)
	ways := 1.0
	for m := range events + 1 {
		binomial[m] = runs * ways * math.Pow(gamma, float64(m)) * math.Pow(1-gamma, float64(events-m))
		ways *= float64(events-m) / float64(m+1)
		geometric[m] = runs * gamma * math.Pow(1-gamma, float64(m))
	}
	geometric[events] /= gamma // the class of streams without an exploration
	tail := 9                  // larger numbers are one class, so that each class expects at least five runs
	numbers[tail], binomial[tail] = sumOf(numbers[tail:]), sumOf(binomial[tail:])
	if got, most := chiSquare(numbers[:tail+1], binomial[:tail+1]); got > most {
		t.Errorf("numbers of explorations: χ² is %g, at most %g: %v, want %v", got, most, numbers, binomial)
	}
	if got, most := chiSquare(gaps, geometric); got > most {
		t.Errorf("events before the first exploration: χ² is %g, at most %g: %v, want %v", got, most, gaps, geometric)
	}
}

func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// worths returns values of elements to events, with some elements that serve many events.
func worths(events, elements int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 66))
	all := make([][]float64, events)
	for i := range all {
		all[i] = make([]float64, elements)
		for a := range all[i] {
			all[i][a] = rng.Float64() * rng.Float64() * float64(1+a%3) / 3
		}
	}
	return all
}

// valueOf returns the value of a set to an event. An element that appears twice counts once.
func valueOf(f function, v []float64, set []int, pick int) (value float64) {
	for i, a := range set {
		if !slices.Contains(set[:i], a) {
			value = f.with(value, v[a], pick)
		}
	}
	return value
}

// TestABanditLearnsOnlyFromExplorations checks that a set changes only after an exploration. Exchanging an event must
// change one score of one expert by at most 1 if the event explores, and nothing otherwise. The test forces both runs
// to draw equal sets.
func TestABanditLearnsOnlyFromExplorations(t *testing.T) {
	const events, elements, pick, eta = 400, 6, 3, 0.4
	all := worths(events, elements, 1)
	run := func(other int, given [][]int) (b *bandit, drawn [][]int, explored []bool) {
		b = newBandit(elements, pick, eta, capped(0.25, events), 3)
		b.given = given
		for i, v := range all {
			if i == other {
				v = []float64{1, 1, 1, 1, 1, 1}
			}
			before := slices.Clone(b.set)
			_, explores := b.play(func(set []int) float64 { return valueOf(facility, v, set, pick) })
			if explores {
				drawn = append(drawn, slices.Clone(b.set))
			} else if !slices.Equal(before, b.set) {
				t.Fatalf("event %d does not explore, and the set becomes %v behind %v", i, b.set, before)
			}
			explored = append(explored, explores)
		}
		return b, drawn, explored
	}
	plain, drawn, explored := run(-1, nil)
	for other := range 60 {
		moved, _, _ := run(other, slices.Clone(drawn))
		scores := 0
		for i, h := range moved.hedges {
			for a, s := range h.scores {
				if by := math.Abs(s - plain.hedges[i].scores[a]); by > 1+1e-12 {
					t.Errorf("event %d moves a score by %g", other, by)
				} else if by > 1e-12 {
					scores++
				}
			}
		}
		if most := map[bool]int{true: 1, false: 0}[explored[other]]; scores > most {
			t.Errorf("event %d explores: %v, and moves %d scores", other, explored[other], scores)
		}
	}
}

// TestExplorationsAreEven checks that explorations are equally frequent for all experts and elements, that they play
// the set so far, and that their results count for the right expert and element. The sample is 60 000 explorations; a
// false rejection has probability below 1e-9.
func TestExplorationsAreEven(t *testing.T) {
	const events, elements, pick = 60000, 5, 3
	b := newBandit(elements, pick, 0.01, capped(1, events), 8)
	seen, want := make([]float64, elements*pick), slices.Repeat([]float64{events / (elements * pick)}, elements*pick)
	for range events {
		set := slices.Clone(b.set)
		played, _ := b.play(func([]int) float64 { return 0.5 })
		i := len(played) - 1
		if !slices.Equal(played[:i], set[:i]) {
			t.Fatalf("%v is played behind %v", played, set)
		}
		seen[i*elements+played[i]]++
		if got := b.hedges[i].scores[played[i]]; got != 0.5*seen[i*elements+played[i]] {
			t.Fatalf("the score of %v is %g after %g explorations", played, got, seen[i*elements+played[i]])
		}
	}
	if got, most := chiSquare(seen, want); got > most {
		t.Errorf("χ² is %g, at most %g: %v", got, most, seen)
	}
}
