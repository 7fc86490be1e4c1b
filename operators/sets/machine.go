package sets

import (
	"encoding/binary"
	"errors"
	"fmt"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/schemas/decision"
)

// rule chooses sets. It depends only on releases and draws.
type rule interface {
	// next returns the set of the next round, valid until the next call, and the cell that the round explores.
	next(stream *mechanisms.Stream) ([]int, playedRound)
	// learn takes the release of a round: the number of its answers, and the sum of their mapped rewards with noise.
	// With the rule draws there is no released sum.
	learn(stream *mechanisms.Stream, p playedRound, answers int, sum float64)
	AppendState(dst []byte) []byte
	StateLen() int
	Restore(state []byte) error // state has StateLen bytes; after an error the rule is unchanged
}

// playedRound holds the cell that a round explores.
type playedRound struct {
	cell  int32  // halving: the element that is tried; draws: expert·N + element; −1: the round does not explore
	stage uint32 // for halving: number of the position at which the element is tried
}

// Machine implements operators.Machine. Its decisions are actions: the index is the number of the action.
type Machine struct {
	operators.Base
	config Config
	table  *actions.Table
	rule   rule
	rounds []playedRound // indexed by the round's number modulo the number of rounds in the table

	contribution [2]float64
	point        []float64
	set          operators.TextMember
	explores     operators.NumberMember
	extras       []decision.ExtraValue
	// Joined names of played sets by their places; cached, because few sets are played often.
	names map[string]string
	key   []byte
}

var _ operators.Machine = (*Machine)(nil)

// newMachine returns the machine at step 0 over a stream of the rule's contribution. It takes ownership of the stream.
func newMachine(c Config, r rates, stream *mechanisms.Stream) (*Machine, error) {
	size, draws := 1, stream.Guarantee().Mechanism == mechanisms.ExponentialMechanism
	if c.Draws {
		size = c.cells()
	}
	if draws != c.Draws || stream.Dimension() != size || !draws && !stream.PerStep() ||
		stream.Batch() != uint64(c.Actions.Records) {
		return nil, fmt.Errorf("sets: a stream of %d coordinates and %d records a step, mechanism %s: differs from the settings",
			stream.Dimension(), stream.Batch(), stream.Guarantee().Mechanism)
	}
	table, err := actions.New(c.Actions)
	if err != nil {
		return nil, err
	}
	m := &Machine{
		Base: operators.Base{Operator: "sets", Stream: stream}, config: c, table: table,
		rounds: make([]playedRound, c.Actions.Rounds()),
		point:  make([]float64, c.Pick), names: map[string]string{},
	}
	var declared operators.Members
	declared, m.set, m.explores = members()
	m.extras = declared.Values()
	if !c.Draws {
		m.rule = newHalving(c)
	} else if m.rule, err = newExperts(c, r, stream); err != nil {
		return nil, err
	}
	m.defineState()
	return m, nil
}

// Open returns the first round.
func (m *Machine) Open(dst []operators.Decision) []operators.Decision { return m.publish(dst, 1) }

// Add takes a record, which may answer an action.
func (m *Machine) Add(r operators.Record) {
	m.table.Observe(r.Key, m.config.Value.Centred(actions.Number(r)))
	m.Stream.Add(r.Identity, m.adds())
}

// Close publishes the next round.
func (m *Machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	if n, answers := m.table.Settled(); n > 0 {
		m.rule.learn(m.Stream, *m.at(n), answers, m.Stream.Sum(0)[0])
	}
	m.table.Settle()
	return m.publish(dst, m.table.Step())
}

// adds returns the numbers that the latest record adds to the stream, or nil if it adds nothing.
func (m *Machine) adds() []float64 {
	a, some := m.table.Next()
	if !some || !a.Usable() {
		return nil
	}
	if !m.config.Draws {
		m.contribution[0] = a.Value
		return m.contribution[:1]
	}
	p := m.at(m.config.Actions.RoundOf(a.Action))
	m.contribution[0], m.contribution[1] = float64(p.cell), a.Value
	if p.cell < 0 {
		return nil // answers to a round that did not explore add nothing
	}
	return m.contribution[:]
}

// at returns the slot of a round.
func (m *Machine) at(round uint64) *playedRound { return &m.rounds[round%uint64(len(m.rounds))] }

// publish chooses the set of a round and appends its actions.
func (m *Machine) publish(dst []operators.Decision, round uint64) []operators.Decision {
	set, p := m.rule.next(m.Stream)
	*m.at(round) = p
	for i := range m.point {
		m.point[i] = -1
		if i < len(set) {
			m.point[i] = float64(set[i])
		}
	}
	m.set.Set(m.extras, m.named(set))
	m.explores.Set(m.extras, 0)
	if p.cell >= 0 {
		m.explores.Set(m.extras, 1)
	}
	return m.config.Actions.Publish(dst, round, m.point, m.extras)
}

// maxNames is the largest number of joined names in the cache.
const maxNames = 1 << 12

// named joins the names of a set.
func (m *Machine) named(set []int) string {
	m.key = m.key[:0]
	for _, element := range set {
		m.key = append(m.key, byte(element), byte(element>>8))
	}
	if text, known := m.names[string(m.key)]; known {
		return text
	}
	if len(m.names) == maxNames {
		clear(m.names)
	}
	text := operators.JoinNames(m.config.Elements, set)
	m.names[string(m.key)] = text
	return text
}

// Due returns the actions to publish at the end of a step: those of one round, and of the first round before any
// record.
func (m *Machine) Due(step uint64) (first uint64, count int) { return m.config.Actions.Due(step) }

// The fields of a state are the state of the rule, the rounds that the table can hold (a cell i32 and a stage u32
// each), and the table.
const stateVersion = 1

const roundLen = 4 + 4

// errState is the error for a state that no machine can have written.
var errState = errors.New("the counts of sets are impossible")

// defineState lists the fields of the state of a machine that newMachine has made.
func (m *Machine) defineState() {
	m.Version, m.Fields = stateVersion, []operators.Field{m.rule, (*rounds)(m), m.table}
	m.Check = func() error { return actions.Check(m.table, m.Stream) }
}

// rounds is the state field of Machine.rounds.
type rounds Machine

func (r *rounds) StateLen() int { return roundLen * len(r.rounds) }

func (r *rounds) AppendState(dst []byte) []byte {
	for _, p := range r.rounds {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.cell))
		dst = binary.LittleEndian.AppendUint32(dst, p.stage)
	}
	return dst
}

func (r *rounds) Restore(state []byte) error {
	for i := range r.rounds {
		p := playedRound{
			cell:  int32(binary.LittleEndian.Uint32(state[roundLen*i:])),
			stage: binary.LittleEndian.Uint32(state[roundLen*i+4:]),
		}
		if p.cell < -1 || int(p.cell) >= r.config.tries() {
			return errState
		}
		r.rounds[i] = p
	}
	return nil
}

// tries returns the number of cells that a round can explore.
func (c Config) tries() int {
	if c.Draws {
		return c.cells()
	}
	return len(c.Elements)
}
