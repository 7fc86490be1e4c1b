package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/coco"
	"oriel/operators/loss"
)

// auditSubject is the configured machine and the pair of streams it is tried on.
type auditSubject struct {
	mechanism mechanisms.Config
	operator  coco.Config
	plan      mechanisms.Plan
	public    coco.Plan
	canary    audit.Canary
	law       *audit.Law
	with      operators.Record // the canary in both streams
	without   operators.Record
	// stream opens the machine's private sum: mechanisms.Open, or in tests one with a planted fault.
	stream func(mechanisms.Config, mechanisms.Plan, [32]byte) (*mechanisms.Stream, error)
}

// longestAudit is how many releases a run has unless --steps says otherwise.
const longestAudit = 1024

func newAuditSubject(s settings.Settings, o auditOptions) (*auditSubject, error) {
	m, c, err := s.Parts()
	if err != nil {
		return nil, err
	}
	a := &auditSubject{mechanism: m, operator: c, stream: mechanisms.Open}
	if a.plan, err = mechanisms.NewPlan(m); err != nil {
		return nil, err
	}
	if a.public, err = c.NewPlan(m); err != nil {
		return nil, err
	}
	steps := o.steps
	if steps == 0 {
		steps = max(1, min(m.Window, longestAudit))
		if m.Horizon >= o.position {
			steps = min(steps, m.Horizon-o.position+1)
		}
	}
	if a.canary, err = audit.NewCanary(m, o.position, steps); err != nil {
		return nil, fmt.Errorf("--position %d, --steps %d: %w", o.position, steps, err)
	}
	with, without := canaryEvents(c, direction(c, strings.Contains(m.Name, "laplace")))
	a.with, a.without = operators.Record{Event: with}, operators.Record{Event: without}
	if m.Adjacency == dp.ZeroOut && m.Separation == 0 {
		a.without = operators.Record{Null: true}
	}
	if a.canary.With, err = a.leaf(a.with); err != nil {
		return nil, err
	}
	if a.canary.Without, err = a.leaf(a.without); err != nil {
		return nil, err
	}
	a.law, err = audit.NewLaw(m, a.plan, a.canary)
	return a, err
}

// leaf returns the leaf of a record at the first decision, loss units; canaries have the same at every other.
func (a *auditSubject) leaf(r operators.Record) ([]float64, error) {
	n := a.mechanism.Dimension
	gradient, x, units := make([]float64, n), make([]float64, n), make([]int64, n)
	if r.Null {
		return gradient, nil
	}
	a.operator.Set.Start(x)
	if !a.operator.Loss.Gradient(gradient, x, r.Event) {
		return nil, fmt.Errorf("audit: a canary with a gradient beyond the clip %g is not representable with these settings", a.mechanism.Clip)
	}
	a.operator.Set.Tangent(gradient)
	a.plan.Grid.Quantise(units, gradient)
	for i, q := range units {
		gradient[i] = float64(q) * a.plan.Grid.Unit()
	}
	return gradient, nil
}

// direction returns the unit vector, within the set's directions, along which a canary moves the sum: the first coordinate, or, for noise
// whose worst case is in the ℓ1 norm, all of them.
func direction(c coco.Config, spread bool) []float64 {
	u := make([]float64, c.Set.Dimension())
	u[0] = 1
	if spread {
		for i := range u {
			u[i] = float64(1 - 2*(i%2))
		}
	}
	c.Set.Tangent(u)
	norm := lattice.Norm(u)
	for i := range u {
		u[i] /= norm
	}
	return u
}

// beyond is how many times the clip a canary's gradient is long at least, by its weight and, where the loss allows it, without the weight too: so a
// clip that is off, or that comes before the weight, shows.
const beyond = 64

// canaryEvents returns two events whose gradients, at every decision of the set, are longer than the clip and point along u and −u. With |x| ≤ M:
//
//	linear             ±u itself
//	logistic           features u/M, so |⟨a, x⟩| ≤ 1 and the slope is 1/(1 + e) at least; the label turns the sign
//	hinge              features u/2M, inside the margin at every x
//	squared, absolute  features u/M, label ∓2: a residual of 1 at least
//	portfolio          relatives u up to a constant, which is no direction of the simplex; ⟨x, r⟩ is between 1 and the largest of r, times the scale
func canaryEvents(c coco.Config, u []float64) (with, without operators.Event) {
	reach, clip := c.Set.MaxNorm(), c.Clip
	event := func(factor, label, slope float64) operators.Event {
		values := make([]float64, len(u))
		for i, x := range u {
			values[i] = factor * x
		}
		length := max(factor, -factor) * slope // of the gradient without its weight
		return operators.Event{Vector: operators.Vector{Values: values}, Label: label, Weight: beyond * max(1, clip/length)}
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
		for _, e := range []*operators.Event{&with, &without} {
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

// auditPlayer is one machine of the subject, for one goroutine.
type auditPlayer struct {
	subject   *auditSubject
	stream    *mechanisms.Stream
	machine   *coco.Machine
	start     []byte
	decisions []operators.Decision
}

func (a *auditSubject) open(key [32]byte) (*auditPlayer, error) {
	stream, err := a.stream(a.mechanism, a.plan, key)
	if err != nil {
		return nil, err
	}
	machine, err := coco.New(a.operator, a.public, stream)
	if err != nil {
		return nil, err
	}
	return &auditPlayer{subject: a, stream: stream, machine: machine, start: machine.AppendState(nil)}, nil
}

// play is an audit.Play. The run's number stands where a topic's id does, so that each run has noise of its own; the sums are what the machine's
// decisions are computed from.
func (p *auditPlayer) play(run uint64, canary bool, observe func(release []float64)) error {
	if err := p.machine.Restore(p.start); err != nil {
		return err
	}
	p.decisions = p.machine.Open(p.decisions[:0])
	r := operators.Record{}
	binary.LittleEndian.PutUint64(r.Identity.Topic[:], run)
	for step := uint64(1); step <= p.subject.canary.Releases; step++ {
		for place := range p.subject.mechanism.Batch {
			identity := noise.Identity{Topic: r.Identity.Topic, Offset: r.Identity.Offset + 1}
			r = operators.Record{Null: true}
			if place == 0 && p.subject.canary.At(step) {
				if r = p.subject.without; canary {
					r = p.subject.with
				}
			}
			r.Identity = identity
			p.decisions = p.machine.Add(p.decisions[:0], r)
		}
		observe(p.stream.Sum())
	}
	return nil
}
