package auditor

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/operators"
	"oriel/operators/coco"
	"oriel/operators/loss"
	"oriel/schemas"
)

// Subject is the configured machine. What an audit knows of its operator is in this file.
type Subject struct {
	mechanism mechanisms.Config
	operator  coco.Config
	plan      mechanisms.Plan
	public    coco.Plan
	guarantee dp.Guarantee
	secret    [32]byte
	// stream opens the machine's private sum: mechanisms.Open, or in tests one with a planted fault. So does machine
	// with the operator.
	stream  func(mechanisms.Config, mechanisms.Plan, [32]byte) (*mechanisms.Stream, error)
	machine func(*mechanisms.Stream) (operators.Machine, error)
}

// NewSubject calibrates the machine of the settings. secret is the audit's, and decides all that is drawn.
func NewSubject(s settings.Settings, secret [32]byte) (*Subject, error) {
	m, c, err := s.Parts()
	if err != nil {
		return nil, err
	}
	c.EmitEvery = 1 // an auditor wants to see every decision
	a := &Subject{mechanism: m, operator: c, secret: secret, stream: mechanisms.Open}
	if a.plan, err = mechanisms.NewPlan(m); err != nil {
		return nil, err
	}
	if a.public, err = c.NewPlan(m); err != nil {
		return nil, err
	}
	a.machine = func(stream *mechanisms.Stream) (operators.Machine, error) { return coco.New(c, a.public, stream) }
	if a.guarantee, err = a.plan.Guarantee(m); err != nil {
		return nil, err
	}
	if math.IsInf(a.guarantee.Epsilon, 1) {
		return nil, fmt.Errorf("audit: %s proves no finite epsilon at delta %g: there is no claim to refute",
			a.guarantee.Mechanism, a.guarantee.Delta)
	}
	return a, nil
}

// derived returns a value that the secret decides, of its own for each purpose and number.
func (a *Subject) derived(purpose string, number uint64) [32]byte {
	return sha256.Sum256(fmt.Appendf(a.secret[:], "oriel audit: %s %d", purpose, number))
}

// random returns a generator that the secret decides.
func (a *Subject) random(purpose string, number uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(a.derived(purpose, number)))
}

// key is k₀ of all machines.
func (a *Subject) key() [32]byte { return a.derived("machine", 0) }

// first writes the decision before the first, x_1.
func (a *Subject) first(x []float64) { a.operator.Set.Start(x) }

// leaf writes the leaf that a record should have at decision x, loss units: its gradient clipped and rounded to the
// lattice, by code of its own. It reports false for a record without a gradient.
func (a *Subject) leaf(dst, x []float64, r operators.Record) bool {
	if r.Null || !a.operator.Loss.Gradient(dst, x, r.Event) {
		clear(dst)
		return false
	}
	a.operator.Set.Tangent(dst)
	unit := a.plan.Grid.Unit()
	factor := min(1, a.plan.Grid.Clip()/lattice.Norm(dst))
	for i, g := range dst {
		dst[i] = math.RoundToEven(g*factor/unit) * unit
	}
	return true
}

// pair returns the records of a canary along u in both streams, and their leaves at the first decision, which are those
// at every other.
func (a *Subject) pair(u []float64) (with, without operators.Record, leaves [2][]float64, err error) {
	first, second := canaryEvents(a.operator, u)
	with, without = operators.Record{Event: first}, operators.Record{Event: second}
	if a.mechanism.Adjacency == dp.ZeroOut && a.mechanism.Separation == 0 {
		without = operators.Record{Null: true}
	}
	x := make([]float64, a.mechanism.Dimension)
	a.first(x)
	for i, r := range []operators.Record{with, without} {
		leaves[i] = make([]float64, len(x))
		if !a.leaf(leaves[i], x, r) && !r.Null {
			err = fmt.Errorf("audit: a canary with a gradient beyond the clip %g is not representable with these settings", a.mechanism.Clip)
		}
	}
	return with, without, leaves, err
}

// dense returns a unit vector, within the set's directions, along which a canary moves the sum: a random one, or, for
// noise whose worst case is in the ℓ1 norm, one of entries of equal size and random signs, as many of either.
func (a *Subject) dense(rng *rand.Rand) []float64 {
	u := make([]float64, a.mechanism.Dimension)
	for i := range u {
		u[i] = rng.NormFloat64()
		if strings.Contains(a.mechanism.Name, "laplace") {
			u[i] = float64(1 - 2*(i%2))
		}
	}
	rng.Shuffle(len(u), func(i, j int) { u[i], u[j] = u[j], u[i] })
	return a.unit(u)
}

// along returns the unit vector of one coordinate, within the set's directions.
func (a *Subject) along(coordinate int) []float64 {
	u := make([]float64, a.mechanism.Dimension)
	u[coordinate] = 1
	return a.unit(u)
}

func (a *Subject) unit(u []float64) []float64 {
	a.operator.Set.Tangent(u)
	norm := lattice.Norm(u)
	for i := range u {
		u[i] /= norm
	}
	return u
}

// beyond is how many times the clip a canary's gradient is long at least, by its weight and, where the loss allows it,
// without the weight too: so a clip that is off, or that comes before the weight, shows.
const beyond = 64

// canaryEvents returns two events whose gradients, at every decision of the set, are longer than the clip and point
// along u and −u. With |x| ≤ M:
//
//	linear             ±u itself
//	logistic           features u/M, so |⟨a, x⟩| ≤ 1 and the slope is 1/(1 + e) at least; the label turns the sign
//	hinge              features u/2M, inside the margin at every x
//	squared, absolute  features u/M, label ∓2: a residual of 1 at least
//	portfolio          relatives u up to a constant, which is no direction of the simplex; ⟨x, r⟩ is between 1 and the largest of r, times the scale
func canaryEvents(c coco.Config, u []float64) (with, without schemas.Event) {
	reach, clip := c.Set.MaxNorm(), c.Clip
	event := func(factor, label, slope float64) schemas.Event {
		values := make([]float64, len(u))
		for i, x := range u {
			values[i] = factor * x
		}
		length := max(factor, -factor) * slope // of the gradient without its weight
		return schemas.Event{Vector: schemas.Vector{Values: values}, Label: label, Weight: beyond * max(1, clip/length)}
	}
	switch c.Loss.(type) {
	case loss.Linear:
		return event(beyond*clip, 0, 1), event(-beyond*clip, 0, 1)
	case loss.Logistic:
		return event(1/reach, -1, 0.25), event(1/reach, 1, 0.25)
	case loss.Hinge:
		return event(0.5/reach, -1, 1), event(0.5/reach, 1, 1)
	case loss.Squared, loss.Absolute:
		return event(1/reach, -2, 1), event(1/reach, 2, 1)
	case loss.Portfolio:
		with, without = event(-1, 0, 1), event(1, 0, 1) // the gradient is −r/⟨x, r⟩
		for _, e := range []*schemas.Event{&with, &without} {
			least := slices.Min(e.Vector.Values)
			for i := range e.Vector.Values {
				e.Vector.Values[i] += 1 - least
			}
			e.Weight = beyond * max(1, clip*reach*slices.Max(e.Vector.Values))
		}
		return with, without
	}
	panic(fmt.Sprintf("BUG: main: no canary for the loss %T", c.Loss))
}
