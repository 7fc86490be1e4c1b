package bandit

import (
	"fmt"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/convex"
	"oriel/schemas/decision"
)

// Machine implements operators.Machine. Its decisions are actions; the index is the number of the action.
type Machine struct {
	operators.Base
	config       Config
	plan         Params
	gains        []float64 // factor from units of a release to real units, by episode
	table        *actions.Table
	u            directions
	mirror       mirror       // computes x̃, the centre of the published round
	episodeStart episodeStart // start of the current episode, with Doubling

	baseline *baseline

	middle  []float64 // point towards which centres are scaled
	points  []float64 // the points of a round
	shown   []float64 // the round's published centre, which extras share
	members *members
	extras  []decision.ExtraValue
}

// New returns the machine at step 0 over a stream of the set's dimension. It takes ownership of the stream.
func New(c Config, p Params, stream *mechanisms.Stream) (*Machine, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	n := c.Set.Dimension()
	if stream.Dimension() != n || stream.PerStep() || stream.Batch() != uint64(c.Actions.Records) {
		return nil, fmt.Errorf("bandit: a stream of %d coordinates, %d records a step, mechanism %s: want %d, %d, and sums",
			stream.Dimension(), stream.Batch(), stream.Guarantee().Mechanism, n, c.Actions.Records)
	}
	if len(p.Episodes) != c.episodes() {
		return nil, fmt.Errorf("bandit: a plan of %d episodes, want %d", len(p.Episodes), c.episodes())
	}
	table, err := actions.New(c.Actions)
	if err != nil {
		return nil, err
	}
	m := &Machine{
		Base:   operators.Base{Operator: "bandit", Stream: stream},
		config: c, plan: p, table: table, mirror: newMirror(c.Set, c.Actions.Records, c.Precision),
		middle: make([]float64, n), points: make([]float64, n*c.Actions.Actions), shown: make([]float64, n),
	}
	c.Set.Start(m.middle)
	if err := m.open(); err != nil {
		return nil, err
	}
	for _, e := range p.Episodes {
		m.gains = append(m.gains, c.gain(p, e))
	}
	if c.Projected {
		if m.mirror.projection, err = convex.NewProjection(c.Set); err != nil {
			return nil, fmt.Errorf("bandit: %w", err)
		}
	}
	if c.Doubling {
		m.episodeStart = episodeStart{before: make([]float64, n), since: make([]float64, n)}
	}
	m.u.use([seedLen]byte{}) // a placeholder: Open or Restore sets the real seed
	m.members = c.members(stream.Terms())
	m.extras = m.members.Values()
	m.members.centre.Set(m.extras, m.shown)
	m.defineState()
	return m, nil
}

// open sets up the parts that depend on the plan: the space of directions, the point that centres are drawn towards,
// and the baseline.
func (m *Machine) open() error {
	n := len(m.middle)
	shape := m.config.geometry()
	if shape.dimension != m.plan.Dimension {
		return fmt.Errorf("bandit: plan: directions of %d dimensions, and the set has %d", m.plan.Dimension, shape.dimension)
	}
	if shape.dimension < n {
		tangent, err := convex.NewTangent(m.config.Set)
		if err != nil {
			return fmt.Errorf("bandit: %w", err)
		}
		m.u.tangent = tangent
	}
	m.u.axes = coordinates(m.config.axes, n, m.u.tangent)
	copy(m.middle, shape.centre)
	m.baseline = newBaseline(n, m.config.Baseline, m.plan.Centres)
	return nil
}

// Open draws the seed of directions and returns the first round.
func (m *Machine) Open(dst []operators.Decision) []operators.Decision {
	m.u.drawSeed(m.Stream)
	return m.publish(dst, 1)
}

// Add takes a record, which may answer an action, and publishes the next round when a step closes.
func (m *Machine) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	m.table.Observe(r.Key, m.config.mapped(actions.Number(r)))
	var adds []float64
	if a, some := m.table.Next(); some {
		adds = m.Stream.Scratch()
		direction := adds[:len(m.middle)]
		m.u.write(direction, a.Action)
		// Answers without a loss are added, too, because it is private whether an answer has a loss.
		m.baseline.add(direction)
		if a.Usable() {
			contribute(adds, a.Value, m.baseline.value())
		} else {
			adds = nil
		}
	}
	if !m.Stream.Add(r.Identity, adds) {
		return dst
	}
	m.table.Settle()
	if m.Stream.Ended() {
		return dst
	}
	m.baseline.learn(m.Stream.Sum(0))
	m.move(m.table.Step())
	return m.publish(dst, m.table.Step())
}

// move computes the centre of a round. With Doubling an episode starts where the last one ended, and its centres depend
// only on its own rounds.
func (m *Machine) move(round uint64) {
	sum := m.Stream.Sum(0)
	e, first := m.config.episodeOf(round)
	if m.config.Doubling {
		if round == first {
			copy(m.mirror.start, m.mirror.centre)
		}
		if sum = m.episodeStart.turn(sum, first, round, m.config.Actions); sum == nil {
			return
		}
	}
	m.mirror.move(float64(m.plan.Episodes[e].Rate*m.gains[e]), sum)
	convex.Settle(m.config.Set, m.mirror.centre)
}

// contribute scales the direction of an action, in dst, to the contribution of its answer, and writes the centre of the
// ball of radius 1 that contains it. Losses are measured from the baseline β. β does not change the expected gradient,
// because it is equal for all directions, and the mean of the directions is 0.
func contribute(dst []float64, value, beta float64) {
	n := len(dst) / 2
	for i, u := range dst[:n] {
		dst[n+i] = -float64(u * beta)
		dst[i] = float64(u * (value - beta))
	}
}

// mapped maps a loss from its range to [−1, 1], after clamping. NaN stays NaN.
func (c Config) mapped(loss float64) float64 { return float64(2 * c.Losses.Centred(loss)) }

// publish appends the actions of a round, which surround the centre.
func (m *Machine) publish(dst []operators.Decision, round uint64) []operators.Decision {
	n, first := len(m.middle), m.config.Actions.First(round)
	e, _ := m.config.episodeOf(round)
	episode := m.plan.Episodes[e]
	share := m.plan.share(episode)
	for i, x := range m.mirror.centre {
		m.shown[i] = m.middle[i] + float64(share*(x-m.middle[i]))
	}
	m.members.baseline.Set(m.extras, m.config.Losses.Middle()+float64(m.baseline.value()*m.config.Losses.Half()))
	for k := range m.config.Actions.Actions {
		point := m.points[k*n : (k+1)*n]
		m.u.write(point, first+uint64(k))
		for i, x := range m.shown {
			point[i] = x + float64(episode.Smoothing*point[i])
		}
		dst = append(dst, operators.Decision{Index: first + uint64(k), Step: round - 1, Point: point, Extras: m.extras})
	}
	return dst
}

// Due returns the actions to publish at the end of a step: those of one round, of the first round before any record,
// and none after the last step.
func (m *Machine) Due(step uint64) (first uint64, count int) {
	if step >= m.Stream.End() {
		return 0, 0
	}
	return m.config.Actions.Due(step)
}
