package pipeline

import (
	"errors"
	"fmt"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas"
	"oriel/state/users"
)

// Model is the configured operator as the pipeline sees it; cmd builds it from settings.
type Model struct {
	Settings string              // canonical configuration (formats v1), public
	Events   schemas.EventConfig // how records are decoded
	Users    Users               // user-level privacy; the zero value is none

	Semantics uint32 // of decoding, leaves and decompression: the constant of that name, from 1. Tests play another version.

	// Plan computes everything that calibration decides, once, at opening; it is frozen in the incarnation record.
	Plan func() ([]byte, error)
	// Open gives a machine at step 0, or an error if the frozen plan proves less than the configuration asks for.
	Open func(plan []byte, key [32]byte) (operators.Machine, error)
}

// Stream is the pure way of one stream's records: decode, step, encode. The same Stream runs in a task and in a replay,
// so that both give the same bytes. It is not safe for concurrent use.
type Stream struct {
	machine   operators.Machine
	horizon   uint64 // the last step; 0 for a stream without end
	users     Users
	limiter   *users.Limiter // nil at event level
	forgotten func(users.ID) // hears of each user that the limiter forgets
	user      users.ID
	decoder   *schemas.Decoder
	encoder   *schemas.Encoder
	event     schemas.Event
	decisions []operators.Decision
	line      []byte
}

// OpenStream opens the model's machine at step 0 with a frozen plan and the stream's first key. people is the secret under which users are
// remembered, the same in all partitions.
func OpenStream(m Model, plan []byte, key, people [32]byte, stream string, incarnation [16]byte) (*Stream, error) {
	machine, err := m.Open(plan, key)
	if err != nil {
		return nil, fmt.Errorf("pipeline: open operator: %w", err)
	}
	decoder, err := schemas.NewDecoder(m.Events)
	if err != nil {
		return nil, fmt.Errorf("pipeline: open decoder: %w", err)
	}
	limiter, err := m.Users.limiter(people)
	if err != nil {
		return nil, fmt.Errorf("pipeline: open users: %w", err)
	}
	guarantee := machine.Guarantee()
	encoder := schemas.NewEncoder(decisionConfig(guarantee, stream, incarnation))
	return &Stream{
		machine: machine, horizon: guarantee.Horizon, users: m.Users, limiter: limiter, forgotten: func(users.ID) {}, decoder: decoder, encoder: encoder,
	}, nil
}

func decisionConfig(g dp.Guarantee, stream string, incarnation [16]byte) schemas.DecisionConfig {
	return schemas.DecisionConfig{
		Stream: stream, Incarnation: incarnation, Mechanism: g.Mechanism, Window: g.Window, Batch: g.Batch,
		Epsilon: g.Epsilon, Delta: g.Delta, Adjacency: g.Adjacency.String(), Unit: g.Unit,
	}
}

// Start hands the decisions owed before the first record to emit; their bytes are valid during the call only.
func (s *Stream) Start(emit func(line []byte)) {
	s.decisions = s.machine.Open(s.decisions[:0])
	s.emit(emit)
}

// Input is a record as a stream takes it.
type Input struct {
	Identity   noise.Identity
	User       *users.ID // of a stream with user-level privacy; nil when the record names none
	Value      []byte
	Unreadable bool // the value could not be had from its batch within the size limit
}

// Take steps over one record and hands the decisions it causes to emit; their bytes are valid during the call only. It
// returns why the record takes its place as a null event, schemas.OK when it is valid.
func (s *Stream) Take(in Input, emit func(line []byte)) schemas.Code {
	code := s.admit(in.User)
	switch {
	case code != schemas.OK:
	case in.Unreadable:
		code = schemas.TooLarge
	default:
		code = s.decoder.Decode(&s.event, in.Value)
	}
	record := operators.Record{Identity: in.Identity, Null: code != schemas.OK}
	if !record.Null {
		record.Event = s.event
	}
	s.decisions = s.machine.Add(s.decisions[:0], record)
	s.emit(emit)
	return code
}

func (s *Stream) emit(emit func(line []byte)) {
	for _, d := range s.decisions {
		s.line = s.encoder.Append(s.line[:0], d.Index, d.Step, d.Point)
		emit(s.line)
	}
}

// Steps counts the closed steps: a function of how many records were taken, and so public.
func (s *Stream) Steps() uint64 { return s.machine.Steps() }

// Due tells the indices of a step's decisions, as operators.Machine does.
func (s *Stream) Due(step uint64) (first uint64, count int) { return s.machine.Due(step) }

// Guarantee is what every decision of the stream prints.
func (s *Stream) Guarantee() dp.Guarantee { return s.machine.Guarantee() }

// AppendState appends the private state, of constant length for a configuration: the machine's, then the users'. It must be sealed.
func (s *Stream) AppendState(dst []byte) []byte {
	dst = s.machine.AppendState(dst)
	if s.limiter != nil {
		dst = s.limiter.AppendState(dst)
	}
	return dst
}

// Restore puts the stream where AppendState was called.
func (s *Stream) Restore(private []byte) error {
	if s.limiter == nil {
		return s.machine.Restore(private)
	}
	split := len(private) - s.limiter.StateLen()
	if split < 0 {
		return errors.New("pipeline: state: shorter than its users")
	}
	if err := s.machine.Restore(private[:split]); err != nil {
		return err
	}
	return s.limiter.Restore(private[split:])
}
