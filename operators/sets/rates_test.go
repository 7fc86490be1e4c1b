package sets

import (
	"maps"
	"math"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// TestRates checks rates against their formulas.
func TestRates(t *testing.T) {
	c := drawsOf(10, 3, 1, 1000)
	c.Share, c.Capped = 0.1, true
	m := mechanismOf(t, c, 1)
	// The source paper's analysis would prove η = √(8ρ/200) with ρ = (√(1+ln 1/δ) − √(ln 1/δ))²; the machine uses a
	// little more.
	if eta := c.eta(m, mechtest.Plan(t, m)); m.Draws.MaxDraws != 200 || eta < 2.6433997e-2 || eta > 3.2e-2 {
		t.Errorf("%d explorations of η = %.8g, want 200 of 2.6433997e-2 or somewhat more", m.Draws.MaxDraws, eta)
	}
	c.Capped = false
	if m = mechanismOf(t, c, 1); m.Draws.MaxDraws != 100 {
		t.Errorf("%d explorations, want 100", m.Draws.MaxDraws)
	}

	exchanged := m.Draws.MaxEpsilon
	m.Unit = protection.Event{Exchange: dp.ZeroOut}
	if err := (operator{Config: c}).Require(&m, nil); err != nil || math.Abs(m.Draws.MaxEpsilon/exchanged-0.5) > 1e-12 {
		t.Errorf("against no event a draw loses %g, where one is exchanged %g: want half, %v", m.Draws.MaxEpsilon, exchanged, err)
	}

	// The share of explorations must minimise its bound.
	for _, capped := range []bool{true, false} {
		for _, records := range []int{1, 16} {
			c := drawsOf(4, 2, records, 1<<24)
			c.Share, c.Capped = 0, capped
			bound := func(share float64) float64 {
				c.Share = share
				m := mechanismOf(t, c, 1)
				r, err := c.rates(m)
				if err != nil {
					t.Fatal(err)
				}
				return c.regretBound(r, c.eta(m, mechtest.Plan(t, m)), float64(records))
			}
			r, err := c.rates(mechanismOf(t, c, 1))
			if err != nil {
				t.Fatal(err)
			}
			best, most := bound(r.share), 0.3*float64(uint64(records)<<24)
			if best > bound(r.share/1.5) || best > bound(r.share*1.5) || best > most {
				t.Errorf("capped %v, B = %d: γ = %g has %g, beside it %g and %g", capped, records, r.share, best,
					bound(r.share/1.5), bound(r.share*1.5))
			}
		}
	}
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

// explorations plays lives without any answer. For each it returns the explored cell of each round, or −1 if the round
// does not explore.
func explorations(t *testing.T, c Config, lives int) (all [][]int32) {
	t.Helper()
	m := mechanismOf(t, c, 1)
	plan := mechtest.Plan(t, m)
	opened, err := mechanisms.NewMechanism(m, plan)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.rates(m)
	if err != nil {
		t.Fatal(err)
	}
	for life := range lives {
		machine, err := newMachine(c, r, opened.Open([32]byte{byte(life), byte(life >> 8), byte(life >> 16)}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		made, cells := machine.Open(nil), []int32(nil)
		for round := range int(c.Horizon) {
			cell := machine.at(uint64(round + 1)).cell
			if cells = append(cells, cell); cell >= 0 && int(cell)/len(c.Elements)+1 != len(setOf(made[0])) {
				t.Fatalf("cell %d is explored by %v", cell, setOf(made[0]))
			}
			made = counted.Add(made[:0], answer(0, 0, int64(round)))
		}
		all = append(all, cells)
	}
	return all
}

// TestFixedExplorationsAreOfTheirLaw checks that, with fixed coins, exactly the accounted number of rounds explores,
// and that each choice of rounds, and each cell, is equally likely. The sample is 6 000 lives of 6 rounds. A false
// rejection has probability below 1e-9 for each of the two laws.
func TestFixedExplorationsAreOfTheirLaw(t *testing.T) {
	const lives = 6000
	choices, cells := make(map[int]float64), make([]float64, 6)
	for _, life := range explorations(t, drawsOf(3, 2, 1, 6), lives) {
		choice, number := 0, 0
		for round, cell := range life {
			if cell >= 0 {
				choice, number = choice|1<<round, number+1
				cells[cell]++
			}
		}
		if number != 3 {
			t.Fatalf("%d of 6 rounds explore, want 3", number)
		}
		choices[choice]++
	}
	counts := slices.Collect(maps.Values(choices))
	if len(counts) != 20 {
		t.Fatalf("%d choices of 20", len(counts))
	}
	if got, most := chiSquare(counts, slices.Repeat([]float64{lives / 20}, 20)); got > most {
		t.Errorf("choices: χ² is %g, at most %g: %v", got, most, counts)
	}
	if got, most := chiSquare(cells, slices.Repeat([]float64{lives * 3 / 6}, 6)); got > most {
		t.Errorf("cells: χ² is %g, at most %g: %v", got, most, cells)
	}
}

// TestCappedExplorationsAreOfTheirLaw checks that with capped coins the number of explorations is binomial up to the
// cap, and never above it. The sample is 6 000 lives of 6 rounds; a false rejection has probability below 1e-9.
func TestCappedExplorationsAreOfTheirLaw(t *testing.T) {
	const lives = 6000
	c := drawsOf(3, 2, 1, 6)
	c.Capped, c.Share = true, 0.25 // at most 3 of 6 rounds explore
	numbers := make([]float64, 4)
	for _, life := range explorations(t, c, lives) {
		number := 0
		for _, cell := range life {
			if cell >= 0 {
				number++
			}
		}
		if number > 3 {
			t.Fatalf("%d explorations, 3 are accounted", number)
		}
		numbers[number]++
	}
	p, q := 0.25, 0.75
	law := []float64{math.Pow(q, 6), 6 * p * math.Pow(q, 5), 15 * p * p * math.Pow(q, 4), 0}
	law[3] = 1 - law[0] - law[1] - law[2]
	for i := range law {
		law[i] *= lives
	}
	if got, most := chiSquare(numbers, law); got > most {
		t.Errorf("χ² is %g, at most %g: %v, want %v", got, most, numbers, law)
	}
}

// TestCoinsOfTheBound checks that the value of coins in the bound is not too small. For fixed coins it uses the law of
// the number of explorations so far, for capped coins the probability that the cap is reached.
func TestCoinsOfTheBound(t *testing.T) {
	choose := func(n, k int) float64 {
		return math.Exp(lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1))
	}
	for _, row := range []struct{ rounds, most int }{{2, 1}, {20, 1}, {20, 5}, {20, 19}, {20, 20}, {200, 40}} {
		c, r := drawsOf(3, 1, 1, uint64(row.rounds)), rates{explorations: uint64(row.most)}
		gamma, misses := float64(row.most)/float64(row.rounds), 0.0
		for before := range row.rounds { // before is the number of earlier rounds, some of which have explored
			left := row.rounds - before
			for some := max(0, row.most-left); some <= min(before, row.most); some++ {
				p := choose(before, some) * choose(left, row.most-some) / choose(row.rounds, row.most)
				misses += p * math.Abs(float64(row.most-some)/float64(left)-gamma) / gamma
			}
		}
		got := c.coins(r, float64(row.rounds))
		if got < misses-1e-9 || row.most < row.rounds && got > 4*misses+2 {
			t.Errorf("fixed, %d of %d: %g rounds, there are %g", row.most, row.rounds, got, misses)
		}
	}
	for _, row := range []struct {
		share  float64
		rounds int
	}{{0.01, 30}, {0.1, 30}, {0.25, 16}, {0.4, 100}, {0.7, 20}, {1, 20}} {
		c := drawsOf(3, 1, 1, uint64(row.rounds))
		c.Capped, c.Share = true, row.share
		r, err := c.rates(mechanismOf(t, c, 1))
		if err != nil {
			t.Fatal(err)
		}
		all := 0.0
		for some := int(r.explorations); some < row.rounds; some++ { // explorations before the last round
			all += choose(row.rounds-1, some) * math.Pow(r.share, float64(some)) *
				math.Pow(1-r.share, float64(row.rounds-1-some))
		}
		if got := c.coins(r, float64(row.rounds)); got < all*float64(row.rounds)-1e-9 || got > float64(row.rounds) {
			t.Errorf("capped, %g of %d: %g rounds, there are %g", row.share, row.rounds, got, all*float64(row.rounds))
		}
	}
}

func lgamma(n int) float64 {
	x, _ := math.Lgamma(float64(n))
	return x
}

// TestRatesAreRefused checks that rates without meaning are refused, and plans of other configurations too.
func TestRatesAreRefused(t *testing.T) {
	c := drawsOf(3, 1, 1, 10)
	m := mechanismOf(t, c, 1)
	m.Budget.Delta = 0
	if _, err := c.rates(m); err != nil {
		t.Errorf("pure ε with a share: %v", err)
	}
	other := c
	other.Share = 0
	if _, err := other.rates(m); err == nil {
		t.Error("no share is taken without δ")
	}
	params, err := (operator{Config: c}).Params(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "2" + string(params[1:]), "1\n0 0 0\ne0\ne1\ne2", "1\n3fe0000000000000 11 3fe0000000000000\ne0\ne1\ne2",
		string(params) + "\nx", "1\nnone\ne0\ne1\ne2",
	} {
		if err := (operator{Config: c}).Require(&m, []byte(bad)); err == nil {
			t.Errorf("params %q are taken", bad)
		}
	}
	if err := (operator{Config: c}).Require(&m, params); err != nil || m.Draws.MaxDraws != 5 ||
		m.Name != mechanisms.ExponentialMechanism {
		t.Errorf("own params: %v, %+v", err, m.Draws)
	}
}
