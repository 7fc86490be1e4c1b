package arms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/schemas/decision"
)

// rule chooses arms. It depends only on released numbers.
type rule interface {
	// next returns the arm of the next round, and the probability with which it was chosen.
	next(stream *mechanisms.Stream) (arm int, p float64)
	// learn takes the release of a round: the arm that it played, its probability, the number of its answers, and the
	// sum of their mapped losses with noise.
	learn(arm int, p float64, answers int, sum float64)
	operators.Field
}

// Machine implements operators.Machine. Its decisions are actions. The index is the number of the action, and the point
// is the number of the arm.
type Machine struct {
	operators.Base
	config Config
	table  *actions.Table
	rule   rule
	rounds []playedRound // indexed by the round's number modulo the number of rounds in the table

	contribution [1]float64
	point        [1]float64
	name         operators.TextMember // name of the arm in extras
	extras       []decision.ExtraValue
}

// playedRound is a round that was published.
type playedRound struct {
	arm         int
	probability float64
}

var _ operators.Machine = (*Machine)(nil)

// New returns the machine at step 0 over a stream of one number for each record. It takes ownership of the stream.
func New(c Config, stream *mechanisms.Stream) (*Machine, error) {
	if stream.Dimension() != 1 || !stream.PerStep() || stream.Batch() != uint64(c.Actions.Records) {
		return nil, fmt.Errorf("arms: a stream of %d coordinates and %d records a step, mechanism %s: want one, %d, and single steps",
			stream.Dimension(), stream.Batch(), stream.Guarantee().Mechanism, c.Actions.Records)
	}
	table, err := actions.New(c.Actions)
	if err != nil {
		return nil, err
	}
	m := &Machine{
		Base: operators.Base{Operator: "arms", Stream: stream}, config: c, table: table,
		rounds: make([]playedRound, c.Actions.Rounds()),
	}
	var declared operators.Members
	declared, m.name = members()
	m.extras = declared.Values()
	n, err := noiseOf(stream)
	if err != nil {
		return nil, err
	}
	switch c.Rule {
	case exp3:
		m.rule = newExp3(len(c.Arms), c.Actions.Records, n)
	case exp3Uniform:
		if m.rule, err = newExp3Uniform(len(c.Arms), c.Actions.Records, n); err != nil {
			return nil, err
		}
	default:
		m.rule = newUCB(len(c.Arms), c.Width, n)
	}
	m.defineState()
	return m, nil
}

// Open returns the first round.
func (m *Machine) Open(dst []operators.Decision) []operators.Decision { return m.publish(dst, 1) }

// Add takes a record, which may answer an action.
func (m *Machine) Add(r operators.Record) {
	m.table.Observe(r.Key, m.config.Losses.Centred(actions.Number(r)))
	var adds []float64
	if a, some := m.table.Next(); some && a.Usable() {
		m.contribution[0] = a.Value
		adds = m.contribution[:]
	}
	m.Stream.Add(r.Identity, adds)
}

// Close publishes the next round.
func (m *Machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	if n, answers := m.table.Settled(); n > 0 {
		p := m.at(n)
		m.rule.learn(p.arm, p.probability, answers, m.Stream.Sum(0)[0])
	}
	m.table.Settle()
	return m.publish(dst, m.table.Step())
}

func (m *Machine) at(round uint64) *playedRound { return &m.rounds[round%uint64(len(m.rounds))] }

// publish chooses the arm of a round and appends its actions.
func (m *Machine) publish(dst []operators.Decision, round uint64) []operators.Decision {
	p := m.at(round)
	p.arm, p.probability = m.rule.next(m.Stream)
	m.point[0] = float64(p.arm)
	m.name.Set(m.extras, m.config.Arms[p.arm])
	return m.config.Actions.Publish(dst, round, m.point[:], m.extras)
}

// Due returns the actions to publish at the end of a step: those of one round, and of the first round before any
// record.
func (m *Machine) Due(step uint64) (first uint64, count int) { return m.config.Actions.Due(step) }

// deviation describes the noise of a release, in units of mapped losses.
type deviation struct {
	variance float64
	tail     float64 // scale of an exponential tail; 0 for a Gaussian tail
}

// noiseOf computes the noise of a stream's releases from its public parameters. Gaussian noise has the variance of its
// calibration.
func noiseOf(stream *mechanisms.Stream) (deviation, error) {
	g := stream.Guarantee()
	facts, _ := mechanisms.FactsOf(g.Mechanism)
	switch {
	case facts.Normal():
		d, err := stream.Deviation(0, 0)
		if err != nil {
			return deviation{}, err
		}
		sd := d.At(1)
		return deviation{variance: float64(sd * sd)}, nil
	case facts.Radial(): // for one coordinate the gamma mechanism's noise is Laplace noise
		return laplace(g.Unit, g.Epsilon), nil
	}
	return deviation{}, errors.New("arms: mechanism " + g.Mechanism + ": its noise is not known")
}

// laplace returns the noise of a pure mechanism: of scale Δ/ε and variance 2(Δ/ε)².
func laplace(unit protection.Unit, epsilon float64) deviation {
	distance := 2 * largest
	if unit.Adjacency() != dp.Replace {
		distance = largest
	}
	b := distance / epsilon
	return deviation{variance: float64(2 * float64(b*b)), tail: b}
}

// The fields of a state are the state of the rule, the rounds that the table can hold (an arm u32 and a probability f64
// each), and the table.
const stateVersion = 1

const roundLen = 4 + 8

// defineState lists the fields of the state of a machine that New has made.
func (m *Machine) defineState() {
	m.Version, m.Fields = stateVersion, []operators.Field{m.rule, (*rounds)(m), m.table}
	m.Check = func() error { return actions.Check(m.table, m.Stream) }
}

// rounds is the state field of Machine.rounds.
type rounds Machine

func (r *rounds) StateLen() int { return roundLen * len(r.rounds) }

func (r *rounds) AppendState(dst []byte) []byte {
	for _, p := range r.rounds {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.arm))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.probability))
	}
	return dst
}

func (r *rounds) Restore(state []byte) error {
	for i := range r.rounds {
		p := playedRound{
			arm:         int(binary.LittleEndian.Uint32(state[roundLen*i:])),
			probability: math.Float64frombits(binary.LittleEndian.Uint64(state[roundLen*i+4:])),
		}
		if p.arm >= len(r.config.Arms) || !(p.probability >= 0 && p.probability <= 1) {
			return errors.New("an arm that does not exist, or a probability outside 0 to 1")
		}
		r.rounds[i] = p
	}
	return nil
}
