package coco

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/coco/band"
	"oriel/operators/convex"
	"oriel/operators/loss"
	"oriel/schemas/decision"
)

// update is the component in which the algorithms differ. It owns the released decision x_t.
type update interface {
	point() []float64
	begin(x []float64)            // called before the first step; x is a point of the set, found by convex.Nearest
	step(t uint64, sum []float64) // sum is ĝ_t, or y_t of the step; point returns x_{t+1} afterwards
	operators.Field
}

// Machine is an operators.Machine. The index of a decision is its step. No decision is due before the first record.
type Machine struct {
	operators.Base
	loss    loss.Loss
	tangent convex.Tangent

	objective *objective
	update    update
	means     *operators.Means // nil: decisions follow the newest sums
	band      *band.Band       // nil if there is none
	columns   int              // number of columns of a contribution that belong to the band
	members   *members
	extras    []decision.ExtraValue
	pull      float64 // the centre of contributions is pull·x + offset
	offset    float64
}

var _ operators.Machine = (*Machine)(nil)

// members are those of a lifetime promise and, if there is a band, its members.
type members struct {
	operators.Members
	band band.Members
}

func (c Config) members(t protection.Terms) *members {
	m := &members{}
	m.Lifetime(t)
	if c.Band.Level > 0 {
		rule := c.rule()
		m.band = rule.Declare(&m.Members)
	}
	return m
}

// New returns the machine at step 0 over a stream of the set's dimension. It takes ownership of the stream.
func New(c Config, p Params, stream *mechanisms.Stream) (*Machine, error) {
	if err := errors.Join(c.Validate(), p.validate()); err != nil {
		return nil, err
	}
	if (c.Band.Level > 0) != (p.Band != band.Columns{}) || p.Band.Number != c.marks() {
		return nil, fmt.Errorf("coco: params: %d columns of a band, the settings have %d", p.Band.Number, c.marks())
	}
	if n := c.Set.Dimension() + c.marks(); stream.Dimension() != n || stream.Components() != p.Band.Components() {
		return nil, fmt.Errorf("coco: dimension %d: the stream has %d, in %d components", n, stream.Dimension(),
			stream.Components())
	}
	if want := p.Contributions.entries(c.Set.Dimension()) + c.marks(); len(stream.Scratch()) != want {
		return nil, fmt.Errorf("coco: params: contributions of %d numbers: the stream takes %d", want, len(stream.Scratch()))
	}
	if stream.PerStep() != (c.Update == OGD) {
		return nil, fmt.Errorf("coco: update %s with mechanism %s: ogd needs once-gaussian or once-gamma, which release single steps, and these two mechanisms need ogd",
			c.Update, stream.Guarantee().Mechanism)
	}
	memory, decays := stream.Memory()
	if past := p.Past.Point; past != nil && (len(past) != c.Set.Dimension() || !decays) {
		return nil, fmt.Errorf("coco: params: a past of %d coordinates: the set has %d, and only a stream with a memory goes on after one",
			len(past), c.Set.Dimension())
	}
	if decays && (!c.remembers() || c.OwnConvexity) {
		return nil, fmt.Errorf("coco: update %s with memory %d: only projection, and llo with constants search, have one, both with "+
			"the public regulariser", c.Update, memory)
	}
	bound := stream.ErrorBound()
	if !(bound >= 0 && bound <= math.MaxFloat64) {
		return nil, fmt.Errorf("coco: error bound %g of the stream: negative or not finite", bound)
	}
	if c.StepFailure() > 0 && bound == 0 {
		return nil, errors.New("coco: error bound 0 of the stream: llo with proved constants needs one, ask for it with StepFailure")
	}
	return build(c, p, stream, bound)
}

// build is New without its checks. Tests use it for machines without noise, whose error bound is 0.
func build(c Config, p Params, stream *mechanisms.Stream, bound float64) (*Machine, error) {
	n := c.Set.Dimension()
	c.Clip = p.Contributions.longest(c) // llo's constants take G from the longest contribution
	o := &objective{
		convexity: float64(c.StrongConvexity * float64(stream.Batch())), start: c.StartRegularizer,
		scope: stream.Terms().Scope,
	}
	if c.OwnConvexity && c.Update != OGD {
		o.decisions = make([]float64, n)
	}
	m := &Machine{
		Base: operators.Base{Operator: "coco", Stream: stream, Every: c.EmitEvery},
		loss: c.Loss, tangent: c.tangent(), objective: o,
		pull: p.Contributions.Pull, offset: p.Contributions.Offset,
	}
	if p.Past.Point != nil {
		o.follow(p.Past)
	}
	m.members = c.members(stream.Terms())
	m.extras = m.members.Values()
	var err error
	if c.Band.Level > 0 {
		if m.band, err = band.New(c.rule(), stream); err != nil {
			return nil, err
		}
		m.columns = c.marks()
	}
	switch c.Update {
	case LLO:
		m.update, err = newLocal(c, o, stream.Batch(), bound)
	case OGD:
		m.update, err = newDescent(c, o)
	default:
		m.update, err = newProjected(c, o)
	}
	if err != nil {
		return nil, err
	}
	if p.Past.Point != nil {
		m.update.begin(p.Past.Point)
	}
	if c.searches() {
		m.means = operators.NewMeans(stream.Terms().Scope, meansShare, n)
	}
	m.defineState()
	return m, nil
}

// Add adds the gradient of the record at the released decision x_t, which is equal for all records of a step. A record
// without a gradient counts as null.
func (m *Machine) Add(r operators.Record) {
	var adds []float64
	x, scratch := m.update.point(), m.Stream.Scratch()
	gradient, rest := scratch[:len(x)], scratch[len(x):]
	centre, columns := rest[:len(rest)-m.columns], rest[len(rest)-m.columns:]
	if !r.Null && m.loss.Gradient(gradient, x, r.Event) {
		m.tangent.Project(gradient)
		if len(centre) > 0 {
			for i, v := range x {
				centre[i] = float64(m.pull*v) + m.offset
			}
			m.tangent.Project(centre)
		}
		if m.band != nil {
			m.band.Mark(columns, x, r.Event)
		}
		adds = scratch
	}
	m.Stream.Add(r.Identity, adds)
}

// Close updates the decision with the step's gradients, and publishes it if it is due.
func (m *Machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	t := m.Stream.Step()
	m.objective.addDecision(m.update.point())
	m.update.step(t, m.followed())
	if m.band != nil {
		m.band.Step(t)
	}
	if t%m.Every != 0 {
		return dst
	}
	if m.band != nil {
		m.band.Write(m.members.band, m.extras, t)
	}
	return append(dst, operators.Decision{Index: t, Step: t, Point: m.update.point(), Extras: m.extras})
}

// meansShare, divided by the number of steps that the sums hold, is the weight of the newest step in the means. The
// means are mostly over the newest eighth of these steps (SPEC.md §6.1).
const meansShare = 16

// followed returns the sums from which the step that has just closed learns.
func (m *Machine) followed() []float64 {
	if m.means == nil {
		return m.Stream.Sum(0)
	}
	m.means.Learn(m.Stream)
	return m.means.Sums
}

// The first field of a state is the update: x, or the state of the local oracle. Means of sums, n floats, follow if the
// params have them, and the fields of the band, if there is one. The last field is S, n floats, under OwnConvexity.
const stateVersion = 1

// defineState lists the fields of the state of a machine that build has made.
func (m *Machine) defineState() {
	m.Version, m.Fields = stateVersion, []operators.Field{m.update}
	if m.means != nil {
		m.Fields = append(m.Fields, m.means.Field())
	}
	if m.band != nil {
		m.Fields = append(m.Fields, m.band.Fields()...)
	}
	played := m.objective.decisions
	if played == nil {
		return
	}
	m.Fields = append(m.Fields, operators.Floats(played, func() error {
		for _, s := range played {
			if !(math.Abs(s) <= math.MaxFloat64) {
				return errors.New("sum of decisions not finite")
			}
		}
		return nil
	}))
}
