package bandit

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/convex"
	"oriel/schemas/decision"
)

// Machine implements operators.Machine. Its decisions are actions; the index is the number of the action.
type Machine struct {
	operators.Base
	config       Config
	params       Params
	gains        []float64 // factor from units of a release to real units, by episode
	table        *actions.Table
	u            directions
	mirror       mirror       // computes x̃, the centre of the published round
	episodeStart episodeStart // start of the current episode, with Doubling

	baseline *baseline

	middle  []float64 // point towards which centres are scaled
	points  []float64 // the points of a round
	around  []float64 // the point that the actions of the round surround
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
		return nil, fmt.Errorf("bandit: params: %d episodes, want %d", len(p.Episodes), c.episodes())
	}
	table, err := actions.New(c.Actions)
	if err != nil {
		return nil, err
	}
	m := &Machine{
		Base:   operators.Base{Operator: "bandit", Stream: stream},
		config: c, params: p, table: table, mirror: newMirror(c.Set, c.Actions.Records, c.Precision),
		middle: make([]float64, n), points: make([]float64, n*c.Actions.Actions), around: make([]float64, n),
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
	m.members.centre.Set(m.extras, m.mirror.centre)
	m.defineState()
	return m, nil
}

// open sets up the parts that depend on the params: the space of directions, the point that centres are drawn towards,
// and the baseline.
func (m *Machine) open() error {
	n := len(m.middle)
	shape := m.config.geometry()
	if shape.dimension != m.params.Dimension {
		return fmt.Errorf("bandit: params: directions of %d dimensions, and the set has %d", m.params.Dimension, shape.dimension)
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
	m.baseline = newBaseline(n, m.config.Baseline, m.params.Centres)
	return nil
}

// Open draws the seed of directions and returns the first round.
func (m *Machine) Open(dst []operators.Decision) []operators.Decision {
	m.u.drawSeed(m.Stream)
	return m.publish(dst, 1)
}

// Add takes a record, which may answer an action.
func (m *Machine) Add(r operators.Record) {
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
	m.Stream.Add(r.Identity, adds)
}

// Close publishes the next round.
func (m *Machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
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
	m.mirror.move(float64(m.params.Episodes[e].Rate*m.gains[e]), sum)
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
	episode := m.params.Episodes[e]
	episode.surrounded(m.around, m.middle, m.mirror.centre)
	m.members.baseline.Set(m.extras, m.config.Losses.Middle()+float64(m.baseline.value()*m.config.Losses.Half()))
	for k := range m.config.Actions.Actions {
		point := m.points[k*n : (k+1)*n]
		m.u.write(point, first+uint64(k))
		for i, x := range m.around {
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

// The fields of a state are the seed of directions, 16 bytes, the centre, and the table. With Doubling two vectors
// follow the centre: the start of the episode, and the last release before the episode. The
// fields of the baseline come last: its sums, the last release, and the sum of directions in the open step.
const stateVersion = 1

// defineState lists the fields of the state of a machine that New has made.
func (m *Machine) defineState() {
	inside := float64(m.config.Set.MaxNorm() * (1 + 1e-9))
	vector := func(v []float64, most float64) operators.Field {
		return operators.Floats(v, func() error {
			if !(lattice.Norm(v) <= most) {
				return errors.New("a centre outside the set, or a release that is no number")
			}
			return nil
		})
	}
	m.Version, m.Fields = stateVersion, []operators.Field{&m.u, vector(m.mirror.centre, inside)}
	if m.config.Doubling {
		m.Fields = append(m.Fields, vector(m.mirror.start, inside), vector(m.episodeStart.before, math.MaxFloat64))
	}
	b := m.baseline
	for _, numbers := range [][]float64{b.sums, b.last, b.along} {
		m.Fields = append(m.Fields, operators.Floats(numbers, b.check))
	}
	m.Fields = append(m.Fields, m.table)
	m.Check = func() error { return actions.Check(m.table, m.Stream) }
}

func (d *directions) StateLen() int { return seedLen }

func (d *directions) AppendState(dst []byte) []byte { return append(dst, d.seed[:]...) }

func (d *directions) Restore(state []byte) error {
	d.use([seedLen]byte(state))
	return nil
}
