package coco

import (
	"errors"
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/windowtree"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/schemas/event"
)

// These are the constants of the audit (mechanisms/audit) of complete machines. It exchanges an event whose gradient is
// far beyond the clip, because of its weight, for one of the opposite label. Seeds are fixed; the audit would refute a
// correct machine with probability auditAlpha.
const (
	auditAlpha = 1e-4
	auditRuns  = 5000
)

func auditConfigs(t *testing.T, update string) (Config, mechanisms.Config) {
	t.Helper()
	c := sample(t, "box", 2)
	c.Update, c.Loss = update, mustLoss(t, "logistic")
	m := mechanism(c, 8, 2)
	m.Budget = dp.Budget{Epsilon: 20, Delta: 1e-6}
	return c, m
}

// auditMachine audits a machine over a stream, with a canary at the given step of a window of 8. It tests the claim of
// m's plan, with the noise law of that plan.
func auditMachine(t *testing.T, c Config, m mechanisms.Config, stream *mechanisms.Stream, step uint64) audit.Report {
	t.Helper()
	plan := mechtest.Plan(t, m)
	guarantee, err := plan.Guarantee(m)
	if err != nil {
		t.Fatal(err)
	}
	k, err := audit.NewCanary(m, step, 8)
	if err != nil {
		t.Fatal(err)
	}
	half := math.Sqrt(0.5) * m.Clip() // gradients are along the features (½, ½), for which |⟨a, x⟩| ≤ 1 in the box
	k.With, k.Without = []float64{half, half}, []float64{-half, -half}
	law, err := audit.NewLaw(m, plan, k)
	if err != nil {
		t.Fatal(err)
	}
	a, err := audit.New(law, guarantee, auditRuns, auditAlpha)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := New(c, mustParams(t, c, m), stream)
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	start, observer := machine.AppendState(nil), law.Observe()
	var decisions []operators.Decision
	for run := range uint64(auditRuns) {
		if err := machine.Restore(start); err != nil {
			t.Fatal(err)
		}
		stream.Rekey([32]byte{byte(run), byte(run >> 8), 1})
		coin := audit.Coin([32]byte{8}, run)
		for now := uint64(1); now <= k.Releases; now++ {
			for place := range m.Batch {
				r := operators.Record{
					Identity: noise.Identity{Partition: int32(run), Offset: int64(now*m.Batch + place)},
					Null:     place != 0 || !k.At(now),
				}
				if !r.Null {
					r.Event = event.Event{Vector: event.Vector{Values: []float64{0.5, 0.5}}, Label: 1, Weight: 100}
					if coin {
						r.Event.Label = -1
					}
				}
				decisions = counted.Add(decisions[:0], r)
			}
			observer.Release(stream.Sum(0))
		}
		a.Add(observer.Result(coin))
	}
	return a.Report()
}

// TestAuditOfTheMachineReachesTheClaim checks that the audit's bound of a correct machine is at least 0.9 of the
// largest bound that the canary can give, and not above the claim. Canaries are at the first step and at a later one.
func TestAuditOfTheMachineReachesTheClaim(t *testing.T) {
	for _, update := range []string{Projection, LLO, OGD} {
		for _, step := range []uint64{1, 5} {
			c, m := auditConfigs(t, update)
			r := auditMachine(t, c, m, mechtest.Open(t, m, [32]byte{3}), step)
			if bound := r.Bounds[0].Value; r.Err() != nil || bound < 0.9*r.Reach {
				t.Errorf("%s, canary at step %d: bound %g of %g: %v", update, step, bound, r.Reach, r.Err())
			}
		}
	}
}

// unweighted is a planted fault: a loss that does not apply the weight but passes it to weighted.
type unweighted struct {
	loss.Loss
	weight *float64
}

func (u unweighted) Gradient(dst, x []float64, e event.Event) bool {
	*u.weight, e.Weight = e.Weight, 1
	return u.Loss.Gradient(dst, x, e)
}

// weighted is the other half of the fault: a sum that multiplies the clipped contribution by the weight.
type weighted struct {
	mechanisms.Sum
	weight *float64
}

func (w weighted) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	heavy := make([]lattice.Int128, len(v))
	for i, x := range v {
		heavy[i] = lattice.Int128{}.AddInt64(int64(*w.weight * float64(int64(x.Lo))))
	}
	w.Sum.Add(dst, heavy, chain)
}

func TestAuditCatchesFaultsOfTheMachine(t *testing.T) {
	c, m := auditConfigs(t, Projection)
	plan := mechtest.Plan(t, m)
	gaussian, err := noise.NewGaussian(plan.Scale)
	if err != nil {
		t.Fatal(err)
	}
	f := func(what string, c Config, m mechanisms.Config, stream *mechanisms.Stream) {
		t.Helper()
		r := auditMachine(t, c, m, stream, 1)
		if err := r.Err(); !errors.Is(err, audit.ErrClaim) {
			t.Errorf("%s: not caught: %+v", what, r.Bounds)
		}
	}
	tree := func(p mechanisms.Calibration) mechanisms.Sum {
		sum, err := windowtree.New(m.Scope.Span(), p.Grid, m.Dimension(), gaussian, 0)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	planted := func(m mechanisms.Config, p mechanisms.Calibration, sum mechanisms.Sum) *mechanisms.Stream {
		stream, err := mechanisms.NewStream(m, p, [32]byte{5}, sum)
		if err != nil {
			t.Fatal(err)
		}
		return stream
	}

	after, weight := c, 0.0
	after.Loss = unweighted{c.Loss, &weight}
	f("weight after the clip", after, m, planted(m, plan, weighted{tree(plan), &weight}))

	// Planted fault: the clip is 1.25·L on the same lattice, with noise for L.
	wide := m
	wide.Contribution = contribution.OneComponent(wide.Dimension(), 1.25*wide.Clip())
	widePlan := mechtest.Plan(t, wide)
	if widePlan.Grid.Exp != plan.Grid.Exp {
		t.Fatal("another lattice")
	}
	f("clip off by a quarter", c, m, planted(wide, widePlan, tree(widePlan)))
}
