package band

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/schemas/event"
)

// ledger tracks in exact numbers the misses that the columns really count, and their noise.
type ledger struct {
	machine *machine
	counted *operators.Counted
	misses  []int
	totals  []*big.Rat // M̃ of each column
	noise   []float64  // largest |N_t| so far, by column
	grid    lattice.Grid
}

func newLedger(t testing.TB, m *machine, mechanism mechanisms.Config) *ledger {
	t.Helper()
	n := m.band.rule.columns()
	l := &ledger{
		machine: m, counted: operators.ByCount(m), misses: make([]int, n), noise: make([]float64, n),
		grid: mechtest.Plan(t, mechanism).Component(Component).Grid,
	}
	for range n {
		l.totals = append(l.totals, new(big.Rat))
	}
	return l
}

// add adds a record to the machine, and counts its miss against the given band, which was public before the record.
func (l *ledger) add(r operators.Record, high, low float64, prediction, label float64) []operators.Decision {
	switch residual := label - prediction; {
	case r.Null:
	case residual > high:
		l.misses[0]++
	case residual < low || low == high:
		l.misses[1]++
	}
	steps := l.machine.Steps()
	made := l.counted.Add(nil, r)
	if l.machine.Steps() == steps {
		return made
	}
	for i, x := range l.machine.Stream.Increments(Component) {
		units := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
		units.Add(units, new(big.Int).SetUint64(x.Lo))
		l.totals[i].Add(l.totals[i], new(big.Rat).Mul(new(big.Rat).SetInt(units), new(big.Rat).SetFloat64(l.grid.Unit())))
	}
	for i, total := range l.totals {
		n, _ := new(big.Rat).Sub(total, new(big.Rat).SetInt64(int64(l.misses[i]))).Float64()
		l.noise[i] = max(l.noise[i], math.Abs(n))
	}
	return made
}

// TestBandTelescopes checks that the recursion telescopes without rounding: (z_{T+1} − a_{T+1})/η equals the counted
// misses plus their noise minus the expected number, for every band that was published and wherever increments are
// folded. The anchor a moves within its bounds.
func TestBandTelescopes(t *testing.T) {
	for _, x := range []struct{ batch, fold uint64 }{{1, foldSteps}, {3, 64}} {
		c, m := banded(t, 256, x.batch)
		c.Step = 1.0 / 32
		machine := newMachine(t, c, mechtest.Open(t, m, [32]byte{5}))
		anchors := [2]float64{firstEnd, firstEnd}
		machine.band.fold = x.fold
		l := newLedger(t, machine, m)
		rng := rand.New(rand.NewPCG(1, x.batch))
		decision, high := []float64{0, 0}, machine.band.rule.end(firstEnd)
		low := -high
		outside := 0
		for i := range tiertest.Runs(2000, 100_000) * int(x.batch) {
			a := direction(rng, 1)
			y := 2*rng.Float64() - 1
			if i/1000%2 == 1 {
				y = 1 // all events are above, until the band has its largest width
			}
			r := record(i, event.Event{Vector: event.Vector{Values: a}, Label: y, Weight: 1})
			r.Null = i%11 == 10
			for _, d := range l.add(r, high, low, lattice.Dot(a, decision), y) {
				copy(decision, d.Point)
				low, high = d.Extras[0].Number, d.Extras[1].Number
				expected := new(big.Rat).SetFloat64(float64(d.Step*x.batch) * machine.band.rule.share)
				for column, total := range l.totals {
					want, exact := new(big.Rat).Sub(total, expected).Float64()
					if got := machine.band.excess(column, d.Step); got != want {
						t.Fatalf("step %d, column %d: (z − z_1)/η is %v, want %v (exact: %v)", d.Step, column, got, want, exact)
					}
					rate := machine.band.rule.rate
					a := anchors[column] + anchorShare*rate*float64(x.batch)*(rate*want)
					anchors[column] = min(max(a, firstEnd-anchorLeeway), firstEnd+anchorLeeway)
					if got := machine.band.anchors[column]; got != anchors[column] {
						t.Fatalf("step %d, column %d: the anchor is %v, want %v", d.Step, column, got, anchors[column])
					}
					z := anchors[column] + rate*want
					if machine.band.ends[column] != z {
						t.Fatalf("step %d, column %d: z = %v, want %v", d.Step, column, machine.band.ends[column], z)
					}
					if math.Abs(z) > machine.band.rule.cutoff {
						outside++
					}
				}
			}
		}
		if outside == 0 {
			t.Error("z never left what is shown")
		}
	}
}

// labelOf choose labels adversarially, from the prediction and from the band that will be compared with the event.
var labelOf = map[string]func(i int, f, low, high float64) float64{
	"flips at the upper edge": func(i int, f, low, high float64) float64 {
		return f + high + math.Copysign(1e-9, float64(i%2)-0.5)
	},
	"all above": func(int, float64, float64, float64) float64 { return 1 },
	"all below": func(int, float64, float64, float64) float64 { return -1 },
	"always outside": func(i int, f, low, high float64) float64 {
		if i%2 == 0 {
			return f + high + 1e-9
		}
		return f + low - 1e-9
	},
	"never outside": func(i int, f, low, high float64) float64 { return f + (low+high)/2 },
	"far away": func(i int, f, low, high float64) float64 {
		return 100 * float64(1-i/1000%2*2)
	},
	"at rest, then outside": func(i int, f, low, high float64) float64 {
		if i/3000%2 == 0 {
			return f
		}
		return f + high + 1e-9
	},
}

// TestNoSequencePassesTheBoundOfABand checks PROOF.md, claim 5, for adversarial sequences at every step. Misses on
// either side exceed the expected number by at most (Z + 1 − z_1 + A)/η + B + max|N|. Misses above fall short of it by
// at most (Z + 1 + z_1 + A)/η + B + max|N|. Misses on both sides together fall short of it by at most 2(z_1 + 1 + A)/η
// + αB + max|N| + max|N'|.
func TestNoSequencePassesTheBoundOfABand(t *testing.T) {
	tightest := math.Inf(1)
	for name, choose := range labelOf {
		for _, x := range []struct {
			batch uint64
			fixed bool // anchors stay at z_1, where the bound is tightest
		}{{1, false}, {4, true}} {
			batch := x.batch
			c, m := banded(t, 64, batch)
			c.Step = 1.0 / 64
			m.Budget.Epsilon = 20 // a large ε, so that noise does not hide the effect of the labels
			machine := newMachine(t, c, mechtest.Open(t, m, [32]byte{7}))
			if x.fixed {
				machine.band.lean, machine.band.rule.leeway = 0, 0
			}
			l, rule := newLedger(t, machine, m), machine.band.rule
			decision, high := []float64{0, 0}, machine.band.rule.end(firstEnd)
			low := -high
			rng := rand.New(rand.NewPCG(2, batch))
			events := 0.0
			for i := range tiertest.Runs(4000, 60_000) {
				a := direction(rng, 0.2)
				f := lattice.Dot(a, decision)
				y := choose(i, f, low, high)
				r := record(i, event.Event{Vector: event.Vector{Values: a}, Label: y, Weight: 1})
				events++
				for _, d := range l.add(r, high, low, f, min(max(y, -1), 1)) {
					copy(decision, d.Point)
					low, high = d.Extras[0].Number, d.Extras[1].Number
					more := (rule.cutoff+nearest-rule.start+rule.leeway)/rule.rate + float64(batch)
					fewer := (rule.cutoff+nearest+rule.start+rule.leeway)/rule.rate + float64(batch)
					both := 2*(nearest+rule.start+rule.leeway)/rule.rate + 2*rule.share*float64(batch)
					above := float64(l.misses[0]) - events*rule.share
					below := float64(l.misses[1]) - events*rule.share
					if above > more+l.noise[0] || above < -fewer-l.noise[0] || below > more+l.noise[1] ||
						above+below < -both-l.noise[0]-l.noise[1] {
						t.Fatalf("%s, B = %d, step %d: misses are %g above and %g below what is to be", name, batch, d.Step, above, below)
					}
					tightest = min(tightest, more+l.noise[0]-above, more+l.noise[1]-below)
					if low > high {
						t.Fatalf("step %d: band from %g to %g", d.Step, low, high)
					}
				}
			}
		}
	}
	if tightest > 60 {
		t.Errorf("no sequence comes nearer to its bound than %g misses", tightest)
	}
}

// TestNoiseOfTotalsIsWithinItsDeviation checks the bound on the deviation of noise in totals, from which decisions
// compute their error bound. Streams of null events have totals of noise only.
func TestNoiseOfTotalsIsWithinItsDeviation(t *testing.T) {
	for _, memory := range []uint64{0, 8} {
		c, m := banded(t, memory, 1)
		plan := mechtest.Plan(t, m)
		steps := []uint64{1, 5, 64, 150, 400}
		squares := make([]float64, len(steps))
		runs := tiertest.Runs(60, 4000)
		var noise *totalNoise
		for run := range runs {
			machine := openPlan(t, c, m, plan, byte(run))
			counted := operators.ByCount(machine)
			noise = machine.band.noise
			at := 0
			for step := uint64(1); step <= steps[len(steps)-1]; step++ {
				r := record(int(step)+1000*run, event.Event{})
				r.Null = true
				counted.Add(nil, r)
				if step != steps[at] {
					continue
				}
				for column := range 2 {
					n := machine.band.excess(column, step) + float64(step)*machine.band.rule.share
					squares[at] += n * n
				}
				at++
			}
		}
		if p := noise.period; p > 0 && !(math.Abs(noise.at(9*p)/noise.at(p)-3) <= 1e-9) {
			t.Errorf("memory %d: nine blocks have %g times the noise of one", memory, noise.at(9*p)/noise.at(p))
		}
		for i, step := range steps {
			// squares[i] has a chi-square law with 2·runs degrees of freedom: its root mean square is within
			// 6.11/√(4·runs) at 1e-9. With a memory the bound may be too large, by √2 for a window's length that is
			// rounded up, and more at the start of a block.
			got, most := math.Sqrt(squares[i]/float64(2*runs)), noise.at(step)
			slack := 6.11 / math.Sqrt(float64(4*runs))
			if got > most*(1+slack) || memory > 0 && got < most*(1-slack)/2.5 {
				t.Errorf("memory %d, step %d: deviation %g, bound %g", memory, step, got, most)
			}
		}
	}
}
