package streams

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"oriel/mechanisms/protection"
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
	limiter *users.Limiter // nil without user-level privacy
	encoder *decision.Encoder
	name    string
	time    stepTime
}

// Open returns a stream at step 0 with its first key. people is the secret under which users are hashed, the same in
// all partitions.
func (s *Opened) Open(key, people [32]byte, stream string, incarnation [16]byte) (*Stream, error) {
	machine, err := s.machine(key)
	if err != nil {
		return nil, fmt.Errorf("pipeline: open operator: %w", err)
	}
	limiter, err := s.model.Users.Limiter(people)
	if err != nil {
		return nil, fmt.Errorf("pipeline: open users: %w", err)
	}
	return &Stream{
		opened: s, machine: machine, limiter: limiter, encoder: s.encoder.Of(stream, incarnation), name: stream,
		time: stepTime(decision.NoTime),
	}, nil
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
		Epsilon: g.Epsilon, Delta: g.Delta, Adjacency: g.Unit.Adjacency().String(), Unit: g.Unit.Name(), Form: form,
		Encoding: m.Encoding, SchemaID: m.SchemaID,
	}
}

// Steps returns the number of closed steps. It follows from the number of records taken, so it is public.
func (s *Stream) Steps() uint64 { return s.machine.Steps() }

// ended reports whether the stream has closed all steps that its guarantee covers. Then the next record must not be
// taken.
func (s *Stream) ended() bool { return s.machine.Steps() >= s.End() }

// End returns the last step, or protection.Endless.
func (s *Stream) End() uint64 { return s.opened.guarantee.Scope.End() }

// Due returns the indices of a step's decisions, as operators.Machine does.
func (s *Stream) Due(step uint64) (first uint64, count int) { return s.machine.Due(step) }

// Guarantee returns the guarantee that every decision of the stream states.
func (s *Stream) Guarantee() protection.Guarantee { return s.opened.guarantee }

// Remembered iterates over the users that the stream remembers: none, at event level.
func (s *Stream) Remembered() iter.Seq[users.ID] {
	if s.limiter == nil {
		return func(func(users.ID) bool) {}
	}
	return s.limiter.Remembered()
}

// AppendState appends the private state, of constant length for a configuration: the machine's state, the time of the
// open step, and then the limiter's state at user level. It must be sealed.
func (s *Stream) AppendState(dst []byte) []byte {
	dst = s.time.append(s.machine.AppendState(dst))
	if s.limiter != nil {
		dst = s.limiter.AppendState(dst)
	}
	return dst
}

// Restore restores the state that AppendState appended.
func (s *Stream) Restore(private []byte) error {
	machine, people := private, []byte(nil)
	if s.limiter != nil {
		split := len(machine) - s.limiter.StateLen()
		if split < 0 {
			return errors.New("pipeline: state: shorter than its users")
		}
		machine, people = machine[:split], machine[split:]
	}
	machine, time, err := cutTime(machine)
	if err != nil {
		return err
	}
	if err := s.machine.Restore(machine); err != nil {
		return err
	}
	s.time = time
	if s.limiter == nil {
		return nil
	}
	return s.limiter.Restore(people)
}
