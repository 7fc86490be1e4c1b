package streams

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/state"
	"oriel/state/users"
)

// DecisionTopics is the greatest number of decision topics of an operator. operators.Decision.Output selects one of
// them.
const DecisionTopics = 2

// Model is the configured operator in the form that the pipeline uses; cmd makes it from settings.
type Model struct {
	Settings string            // canonical configuration, one line per setting; public
	Texts    string            // public texts whose digests Settings has, in the form of state.AppendText
	Events   event.Config      // how records are decoded
	Users    *Users            // user-level privacy; the zero value has none
	Keyed    bool              // the machine reads record keys: public names, for example of an action
	Encoding decision.Encoding // encoding of decisions
	SchemaID uint32            // registry id of the encoding's schema, written in decisions; 0: none

	// version of decoding, contributions and decompression: the constant Semantics. Tests set another version.
	Semantics uint32

	Learner Opener

	// Clock is the rule of steps by the clock, and First the first second of the opened stream's first step. The zero
	// Clock is for steps by count, which need no First.
	Clock steps.Clock
	First int64

	// Writers returns a function that opens decoders for events that name their writer's schema, with the frozen
	// schemas of a stream. Nil: events name no schema.
	Writers func(state.Schemas) func(event.Config) (event.Decoder, error)
	Frozen  state.Schemas // schemas frozen for the opened stream; read only with Writers

	// Amendment holds the bytes appended to the opened stream's frozen params: public settings that apply from a later
	// step on, for example the next experiment.
	Amendment []byte
}

// Opened is a model with frozen params: the configuration, guarantee, decoder and scratch that all its streams share. A
// task opens it once; each further stream costs only its own memory. Streams of one Opened must be used one at a time,
// because they share scratch.
type Opened struct {
	model     Model
	machine   func(key [32]byte) (operators.Machine, error)
	guarantee protection.Guarantee
	decoder   event.Decoder
	encoder   *decision.Encoder   // encoder without stream and incarnation; streams derive theirs from it
	event     event.Event         // event of the current record
	keys      [DecisionTopics]int // by topic: index of the extra that is the record key; −1: the key is the stream
	key       []byte              // record key of the last decision
	extras    []decision.Extra    // extra members of decisions
	output    *operators.Output   // the operator's second topic; nil: none
	distinct  operators.Distinct  // gives the values of events if users have values; otherwise nil
}

// OpenModel checks frozen params, with the model's amendment, and opens the model.
func OpenModel(m Model, params []byte) (*Opened, error) {
	params = slices.Concat(params, m.Amendment)
	machine, err := m.Learner.Open(params)
	if err != nil {
		return nil, fmt.Errorf("pipeline: open operator: %w", err)
	}
	first, err := machine([32]byte{}) // any key, because all machines have the same guarantee
	if err != nil {
		return nil, fmt.Errorf("pipeline: open operator: %w", err)
	}
	operator := m.Learner.Operator()
	s := &Opened{
		model: m, machine: machine, guarantee: first.Guarantee(),
		extras: operator.Extras(), output: operators.SecondTopicOf(operator),
	}
	if s.decoder, err = m.Decoder(); err != nil {
		return nil, err
	}
	_, owed := first.Due(0)
	if index, count := first.Due(1); !m.Clock.Counts() && (owed > 0 || index != 1 || count != 1) {
		return nil, errors.New("pipeline: open operator: not one decision in each step, which steps by the clock must have")
	}
	if m.Users != nil && m.Users.Values > 0 {
		var is bool
		if s.distinct, is = operator.(operators.Distinct); !is {
			return nil, errors.New("pipeline: open operator: its events have no values, of which users have a number")
		}
	}
	s.encoder = decision.NewEncoder(m.decisionConfig(s.guarantee, operators.FormOf(operator)), s.extras)
	s.keys = [DecisionTopics]int{s.keyed(0), s.keyed(1)}
	return s, nil
}

// Decoder returns a decoder of the model's events.
func (m Model) Decoder() (event.Decoder, error) {
	events := m.Events
	if m.Writers != nil {
		events.Foreign = m.Writers(m.Frozen)
	}
	decoder, err := event.OpenDecoder(events)
	if err != nil {
		return nil, fmt.Errorf("pipeline: open decoder: %w", err)
	}
	return decoder, nil
}

// Guarantee returns the guarantee that every decision of the model's streams states.
func (s *Opened) Guarantee() protection.Guarantee { return s.guarantee }

// Stream is the current state of one stream; a Walk advances it by records. It is not safe for concurrent use.
type Stream struct {
	opened  *Opened
	machine operators.Machine
	limiter *users.Limiter // nil, except with user-level privacy and steps by count
	periods *users.Periods // nil, except with user-level privacy and steps by the clock
	people  peopleState    // the one of the two that is not nil, or nil
	saved   savedNames     // if the machine is Naming
	value   []byte         // value of the current event, if users have values
	encoder *decision.Encoder
	name    string
	base    uint64      // step before the stream's first step: 0, or by the clock that of the stream's first second less 1
	count   steps.Count // records of the open step: the walk closes a step after B records
	time    stepTime    // by the clock neither is used
}

// Open returns a stream at step 0 with its first key. people is the secret under which users are hashed, the same in
// all partitions.
func (s *Opened) Open(key, people [32]byte, stream string, incarnation [16]byte) (*Stream, error) {
	machine, err := s.machine(key)
	if err != nil {
		return nil, fmt.Errorf("pipeline: open operator: %w", err)
	}
	opened := &Stream{
		opened: s, machine: machine, encoder: s.encoder.Of(stream, incarnation), name: stream,
		count: steps.Count{Batch: s.guarantee.Batch}, time: stepTime(decision.NoTime),
	}
	if err := opened.openUsers(s.model.Users, people); err != nil {
		return nil, fmt.Errorf("pipeline: open users: %w", err)
	}
	if clock := s.model.Clock; !clock.Counts() {
		opened.base = max(clock.Of(s.model.First), 1) - 1
	}
	return opened, nil
}

// OpenStream opens a stream with its own Opened.
func OpenStream(m Model, params []byte, key, people [32]byte, stream string, incarnation [16]byte) (*Stream, error) {
	opened, err := OpenModel(m, params)
	if err != nil {
		return nil, err
	}
	return opened.Open(key, people, stream, incarnation)
}

// decisionConfig returns the members that the decisions of all streams have in common.
func (m Model) decisionConfig(g protection.Guarantee, form decision.Form) decision.Config {
	return decision.Config{
		Mechanism: g.Mechanism, Window: g.Scope.Figures().Window, Batch: g.Batch,
		Seconds: uint64(m.Clock.Length),
		Epsilon: g.Epsilon, Delta: g.Delta, Adjacency: g.Unit.Adjacency().String(), Unit: g.Unit.Name(), Form: form,
		Encoding: m.Encoding, SchemaID: m.SchemaID,
	}
}

// Base returns the number of the step before the stream's first step. Steps by count start with step 1. Steps by the
// clock are numbered from the Unix epoch, outside of the machine, which counts its steps from 1. An index is numbered
// as its step is.
func (s *Stream) Base() uint64 { return s.base }

// Steps returns the last closed step. It follows from the number of records taken, or from the order log, so it is
// public.
func (s *Stream) Steps() uint64 { return s.base + s.machine.Steps() }

// ended reports whether the stream has closed all steps that its guarantee covers. Then no record must be taken.
func (s *Stream) ended() bool { return s.Steps() >= s.End() }

// End returns the last step, or protection.Endless.
func (s *Stream) End() uint64 {
	if end := s.opened.guarantee.Scope.End(); end != protection.Endless {
		return s.base + end
	}
	return protection.Endless
}

// Due returns the indices of a step's decisions, as operators.Machine does.
func (s *Stream) Due(step uint64) (first uint64, count int) {
	if s.base == 0 {
		return s.machine.Due(step)
	}
	if step <= s.base {
		return 0, 0
	}
	first, count = s.machine.Due(step - s.base)
	return s.base + first, count
}

// clock returns the rule of the stream's steps.
func (s *Stream) clock() steps.Clock { return s.opened.model.Clock }

// isBefore reports whether the records at a position are before the first step of a stream by the clock, so that they
// belong to no step.
func (s *Stream) isBefore(at *state.Position) bool {
	return !s.clock().Counts() && at.Order.Slot < s.clock().Begin(s.base+1)
}

// Guarantee returns the guarantee that every decision of the stream states.
func (s *Stream) Guarantee() protection.Guarantee { return s.opened.guarantee }

// Remembered iterates over the users that the stream remembers: none, at event level.
func (s *Stream) Remembered() iter.Seq[users.ID] {
	if s.limiter == nil {
		return func(func(users.ID) bool) {}
	}
	return s.limiter.Remembered()
}

// AppendState appends the private state: the number of records in the open step, the machine's state, and the time of
// the open step. At user level it then has what the stream remembers of users, and for a Naming machine which segments
// have names. Its length depends only on the configuration and on the number of partitions that had a record. It must
// be sealed. Save must be called BEFORE it.
func (s *Stream) AppendState(dst []byte) []byte {
	dst = s.time.append(s.machine.AppendState(s.count.AppendBinary(dst)))
	if s.people != nil {
		dst = s.people.AppendState(dst)
	}
	if s.names() != nil {
		dst = s.saved.append(dst)
	}
	return dst
}

// Restore restores the state that AppendState appended.
func (s *Stream) Restore(private []byte) error {
	machine, people, saved := private, []byte(nil), savedNames{}
	if s.names() != nil {
		var err error
		if saved, machine, err = cutNames(machine); err != nil {
			return err
		}
	}
	if s.people != nil {
		split := len(machine) - s.people.StateLen()
		if split < 0 {
			return errors.New("pipeline: state: shorter than its users")
		}
		machine, people = machine[:split], machine[split:]
	}
	machine, time, err := cutTime(machine)
	if err != nil {
		return err
	}
	count := s.count
	if machine, err = count.Cut(machine); err != nil {
		return fmt.Errorf("pipeline: %w", err)
	}
	if err := s.machine.Restore(machine); err != nil {
		return err
	}
	if count.Records > 0 && s.ended() {
		return errors.New("pipeline: state: records after the last step")
	}
	s.count, s.time, s.saved = count, time, saved
	if s.people == nil {
		return nil
	}
	return s.people.Restore(people)
}

// newest holds the values of a walk's newest decision for the first topic, in memory that is reused. The operator's own
// memory is valid only until the next record.
type newest struct {
	index, step uint64
	time        int64
	point       []float64
	extras      []decision.ExtraValue
}

// keep copies the values of a decision.
func (n *newest) keep(d *operators.Decision, time int64) {
	n.index, n.step, n.time = d.Index, d.Step, time
	n.point = append(n.point[:0], d.Point...)
	for len(n.extras) < len(d.Extras) {
		n.extras = append(n.extras, decision.ExtraValue{})
	}
	n.extras = n.extras[:len(d.Extras)]
	for i, x := range d.Extras {
		own := &n.extras[i]
		own.Number, own.Text, own.Numbers = x.Number, x.Text, append(own.Numbers[:0], x.Numbers...)
	}
}

// Newest returns the newest decision for the first topic. A walk with KeepsNewest must have made one.
func (w *Walk) Newest() decision.Decision {
	n := &w.newest
	return w.Stream.encoder.Decision(n.index, n.step, n.time, n.point, n.extras)
}

// keyed returns the index, among the extras, of the record key of decisions of a topic; −1 means that the key is the
// stream's name.
func (s *Opened) keyed(output uint8) int {
	if output == 0 || s.output == nil || s.output.Key == "" {
		return -1
	}
	return slices.IndexFunc(s.extras, func(x decision.Extra) bool {
		return x.Name == s.output.Key && x.Kind == decision.ExtraText
	})
}

// recordKey returns the record key of a decision, valid until the next call.
func (s *Stream) recordKey(d operators.Decision) []byte {
	text := s.name
	if at := s.opened.keys[d.Output]; at >= 0 && at < len(d.Extras) && d.Extras[at].Text != "" {
		text = d.Extras[at].Text
	}
	s.opened.key = append(s.opened.key[:0], text...)
	return s.opened.key
}

// RecordKeyOf is recordKey for a parsed decision.
func (s *Stream) RecordKeyOf(output uint8, d decision.Decision) []byte {
	var key string
	for _, x := range d.Extras {
		at := s.opened.keys[output]
		if at >= 0 && x.Name == s.opened.extras[at].Name && json.Unmarshal([]byte(x.JSON), &key) == nil && key != "" {
			return []byte(key)
		}
	}
	return []byte(s.name)
}
