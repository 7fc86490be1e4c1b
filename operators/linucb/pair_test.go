package linucb

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
)

// recorder is a sum that records the contributions that each step adds to it.
type recorder struct {
	mechanisms.Sum
	steps [][]int64
}

func (r *recorder) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	step := make([]int64, len(v))
	for i, x := range v {
		step[i] = int64(x.Lo)
	}
	r.steps = append(r.steps, step)
	r.Sum.Add(dst, v, chain)
}

// added runs records through a machine whose releases do not depend on them. It returns the contribution sum of each
// step.
func added(
	t *testing.T, c operator, opened *mechanisms.Mechanism, records []operators.Record,
) [][]int64 {
	t.Helper()
	sum := &recorder{}
	machine := overReleases(t, c, opened, sum)
	counted := operators.ByCount(machine)
	for _, r := range records {
		counted.Add(nil, r)
	}
	return sum.steps
}

// mechanismOf opens a mechanism once for many machines, because a proof of its guarantee takes longer than a stream.
func mechanismOf(t *testing.T, m mechanisms.Config, plan mechanisms.Calibration) *mechanisms.Mechanism {
	t.Helper()
	opened, err := mechanisms.NewMechanism(m, plan)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// overReleases returns a machine whose releases do not depend on records; its sum records what each step adds.
func overReleases(
	t *testing.T, c operator, opened *mechanisms.Mechanism, sum *recorder,
) *Machine {
	t.Helper()
	sum.Sum = mechtest.NewScripted(func(dst []float64, step uint64) {
		rng := rand.New(rand.NewPCG(step, 31))
		for i := range dst {
			dst[i] = 3 * rng.NormFloat64()
		}
	})
	stream, err := opened.OpenOver([32]byte{1}, sum)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := newMachine(c, stream)
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// waits returns the pairs of positions of a context and its reward. It computes them from the record keys only, by the
// rules of SPEC.md.
func waits(c operator, records []operators.Record) (pairs [][2]int) {
	type wait struct {
		key      string
		step     uint64
		place    int
		answered bool
	}
	var all []wait
	for place, r := range records {
		step, held, name := uint64(place)/c.batch+1, 0, string(r.Key)
		open := -1
		for i, w := range all {
			if step-w.step < c.waiting.Timeout {
				if held++; w.key == name {
					open = i
				}
			}
		}
		switch {
		case open >= 0 && !all[open].answered:
			all[open].answered = true
			pairs = append(pairs, [2]int{all[open].place, place})
		case open < 0 && held < c.waiting.Capacity && len(name) >= 1 && len(name) <= maxName:
			all = append(all, wait{key: name, step: step, place: place})
		}
	}
	return pairs
}

// TestAPairChangesOneContribution exchanges both records of a wait, or one of them, for other records or for null
// records, over the same releases. Only the sum of one step may change, the step of the reward. The change must be
// within the sensitivity, whichever arms were chosen; the largest of many changes must be close to it. Records outside
// any wait must change nothing.
func TestAPairChangesOneContribution(t *testing.T) {
	batches := []uint64{1, 3}
	for i, kind := range kinds {
		for _, batch := range tiertest.Runs(batches[i%2:i%2+1], batches) {
			kind.m.Batch = batch
			c, m := config(t, kind.m, kind.lines...)
			if !c.served {
				continue
			}
			plan, rng := mechtest.Plan(t, m), rand.New(rand.NewPCG(batch, 17))
			opened := mechanismOf(t, m, plan)
			replace, _ := c.rows.Distances(plan.Component(0).Grid)
			contexts, records := drawn(c, 120, 5), make([]operators.Record, 120)
			other := func(r operators.Record) operators.Record { // returns a different record with the same key
				r.Null, r.Event = rng.IntN(6) == 0, event.Event{
					Vector:  event.Vector{Values: make([]float64, c.dimension()*max(1, c.candidates))},
					Numbers: []float64{-1, 1e6 * rng.NormFloat64()},
				}
				for i := range r.Event.Vector.Values {
					r.Event.Vector.Values[i] = 100 * rng.NormFloat64()
				}
				return r
			}
			for i, e := range contexts { // keys that return soon, and some that return at the step of their time-out
				key := keyOf(i)
				if i%4 > 0 {
					key = strconv.AppendInt(nil, int64(100+rng.IntN(7)), 10)
				}
				records[i] = operators.Record{Event: e, Key: key, Identity: noise.Identity{Offset: int64(i)}}
			}
			before, pairs, farthest := added(t, c, opened, records), waits(c, records), 0.0
			exchange := func(places ...int) (moved []int) {
				changed := slices.Clone(records)
				for _, place := range places {
					changed[place] = other(changed[place])
				}
				for step, v := range added(t, c, opened, changed) {
					for i := range v {
						v[i] -= before[step][i]
					}
					square := lattice.SquaredLength(v)
					if replace.Less(square) {
						t.Fatalf("%s, records %v: step %d moves by √%v, paid for is √%v", kind.name, places, step+1, square, replace)
					}
					if slices.Max(v) != 0 || slices.Min(v) != 0 {
						moved = append(moved, step)
					}
					farthest = max(farthest, lattice.Grid{}.Float64(square)/lattice.Grid{}.Float64(replace))
				}
				return moved
			}
			for _, pair := range pairs {
				for k := range tiertest.Runs(3, 12) {
					moved := exchange([][]int{pair[:], pair[:1], pair[1:]}[k%3]...)
					if len(moved) > 1 || len(moved) == 1 && moved[0] != pair[1]/int(batch) {
						t.Fatalf("%s: pair %v moves steps %v", kind.name, pair, moved)
					}
				}
			}
			for place := range records {
				if !slices.ContainsFunc(pairs, func(p [2]int) bool { return p[0] == place || p[1] == place }) {
					if moved := exchange(place); len(moved) > 0 {
						t.Fatalf("%s: record %d, of no wait, moves steps %v", kind.name, place, moved)
					}
				}
			}
			farthest = math.Sqrt(farthest)
			t.Logf("%s, B = %d: %d pairs, %.2f of the distance", kind.name, batch, len(pairs), farthest)
			if len(pairs) < 10 || farthest < 0.7 {
				t.Errorf("%s: %d pairs move by %g of the distance at most", kind.name, len(pairs), farthest)
			}
		}
	}
}

// TestActionsOfAGroup exchanges the contexts and the rewards of several pairs at once, over the same releases. Neither
// the models nor the actions of records outside these pairs may change, not even of later records. The action for one
// of the pairs must not change if only the others are exchanged.
func TestActionsOfAGroup(t *testing.T) {
	for _, kind := range kinds {
		c, m := config(t, kind.m, kind.lines...)
		if !c.served {
			continue
		}
		opened, rng := mechanismOf(t, m, mechtest.Plan(t, m)), rand.New(rand.NewPCG(23, 17))
		records := make([]operators.Record, 120)
		for i, e := range drawn(c, len(records), 5) {
			records[i] = operators.Record{
				Event: e, Key: strconv.AppendInt(nil, int64(100+rng.IntN(40)), 10), Identity: noise.Identity{Offset: int64(i)},
			}
		}
		pairs := waits(c, records)
		if len(pairs) < 8 {
			t.Fatalf("%s: %d pairs", kind.name, len(pairs))
		}
		before, changedOwn := published(t, c, opened, records), 0
		for round := range 40 {
			group := slices.Clone(pairs)
			rng.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
			group = group[:2+rng.IntN(5)]
			changed, exchanged := slices.Clone(records), map[int]bool{}
			for k, pair := range group {
				if k == 0 && round%2 == 0 {
					continue // one pair of the group keeps its records
				}
				for _, place := range pair {
					exchanged[place] = true
					changed[place].Event = event.Event{
						Vector:  event.Vector{Values: make([]float64, c.dimension()*max(1, c.candidates))},
						Numbers: []float64{-1, 1e6 * rng.NormFloat64()},
					}
					for i := range changed[place].Event.Vector.Values {
						changed[place].Event.Vector.Values[i] = 100 * rng.NormFloat64()
					}
				}
			}
			after := published(t, c, opened, changed)
			for place, all := range after {
				if equal := slices.Equal(all, before[place]); exchanged[place] && !equal {
					changedOwn++
				} else if !equal {
					t.Fatalf("%s: the action or the model of record %d owes something to pairs of others", kind.name, place)
				}
			}
		}
		if changedOwn < 10 {
			t.Errorf("%s: %d own actions changed: the test exchanges nothing", kind.name, changedOwn)
		}
	}
}

// published returns the choice for each record and, after the last record of a step, all numbers of its model. Releases
// do not depend on records.
func published(
	t *testing.T, c operator, opened *mechanisms.Mechanism, records []operators.Record,
) [][]float64 {
	t.Helper()
	machine := overReleases(t, c, opened, &recorder{})
	counted := operators.ByCount(machine)
	out := make([][]float64, len(records))
	step := 0 // first record of the step that is not yet published
	for i, r := range records {
		for _, d := range counted.Add(nil, r) {
			at := step + int(d.Index-1)%int(c.batch+1)
			if d.Output == 0 {
				at = i
			}
			out[at] = append(out[at], d.Point...)
			for _, x := range d.Extras {
				if d.Output == 0 {
					out[at] = append(out[at], x.Number)
				}
			}
		}
		if (i+1)%int(c.batch) == 0 {
			step = i + 1
		}
	}
	return out
}
