package histories

import (
	"errors"
	"math"
	"sync"
	"time"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
)

// summing opens machines that publish a private sum of their events, always with the same number of digits. They also
// publish the decisions of pipetest.Blind: their index, and the offset of their record.
type summing struct {
	streams.Opener               // opens the blind machines
	slow           time.Duration // time that computing a record takes on the bubble's clock
	later          bool          // a version with other semantics, which negates each event of a step by count
	byClock        bool
	mechanism      string
	seen           *releases
}

// releases collects the first keys of the streams that a history opens, with which judges compute the decisions again.
type releases struct {
	mu   sync.Mutex
	keys [][32]byte // k₀ of each opening, the stream's first key
}

// mechanismOf returns the mechanism with a name: tree-gaussian, the cheapest one with correlated noise, or one that
// releases the sum of each step by the clock once.
func mechanismOf(name string) mechanisms.Config {
	c := mechanisms.Config{
		Name: name, Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Contribution: contribution.OneComponent(1, 1),
		Terms:        protection.Terms{Scope: protection.Window{Steps: 16}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	facts, _ := mechanisms.FactsOf(name)
	if facts.EachStep() {
		c.Batch = 0
		c.Terms = protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.AddRemove}}
	}
	if facts.Pure() {
		c.Budget.Delta = 0
	}
	return c
}

// calibrations has the calibration of each mechanism that a history has used, computed once.
var calibrations sync.Map

func calibrated(name string) ([]byte, error) {
	compute, _ := calibrations.LoadOrStore(name, sync.OnceValues(func() ([]byte, error) {
		calibration, err := mechanisms.Calibrate(mechanismOf(name))
		if err != nil {
			return nil, err
		}
		return calibration.AppendBinary(nil)
	}))
	return compute.(func() ([]byte, error))()
}

func (s summing) Params() ([]byte, error) { return calibrated(s.mechanism) }

func (s summing) Open(params []byte) (func([32]byte) (operators.Machine, error), error) {
	calibration, err := mechanisms.ParseCalibration(params)
	if err != nil {
		return nil, err
	}
	private, err := mechanisms.NewMechanism(mechanismOf(s.mechanism), calibration)
	if err != nil {
		return nil, err
	}
	blind, err := s.Opener.Open(nil)
	if err != nil {
		return nil, err
	}
	return func(key [32]byte) (operators.Machine, error) {
		under, err := blind(key)
		if err != nil {
			return nil, err
		}
		if s.seen != nil && key != ([32]byte{}) {
			s.seen.mu.Lock()
			s.seen.keys = append(s.seen.keys, key)
			s.seen.mu.Unlock()
		}
		return &sum{Machine: under, stream: private.Open(key), of: s}, nil
	}, nil
}

// sum is a machine that summing opens.
type sum struct {
	operators.Machine // a blind machine
	of                summing
	stream            *mechanisms.Stream
}

// Add takes s.slow of the bubble's time.
func (s *sum) Add(r operators.Record) {
	if s.of.slow > 0 {
		time.Sleep(s.of.slow)
	}
	var v []float64
	if !r.Null {
		v = []float64{float64(r.Event.Label * min(1, max(-1, r.Event.Vector.Values[0])))}
	}
	if s.of.byClock {
		s.stream.Add(r.Identity, v) // a step may have no record, so its decision has no offset
		return
	}
	if s.of.later && !r.Null {
		v[0] = -v[0]
	}
	s.stream.Add(r.Identity, v)
	s.Machine.Add(r)
}

// Close makes a step.
func (s *sum) Close(dst []operators.Decision) []operators.Decision {
	version := 1.
	if s.of.later {
		version = 2
	}
	s.stream.Close()
	from := len(dst)
	dst = s.Machine.Close(dst)
	for i := range dst[from:] {
		dst[from+i].Point = append(append(dst[from+i].Point, version), published(s.stream.Sum(0)[0])...)
	}
	return dst
}

// published encodes x exactly in two numbers that always have the same number of digits.
func published(x float64) []float64 {
	const wide = 1 << 32
	bits := math.Float64bits(x)
	return []float64{10*float64(wide+bits>>32) + 7, 10*float64(wide+bits%wide) + 7}
}

// unpublished decodes the two numbers of published.
func unpublished(p []float64) float64 {
	const wide = 1 << 32
	high, low := (uint64(p[0])-7)/10-wide, (uint64(p[1])-7)/10-wide
	return math.Float64frombits(high<<32 | low)
}

// StateLen returns the total length of the blind machine's state and the stream's.
func (s *sum) StateLen() int { return s.Machine.StateLen() + s.stream.StateLen() }

// AppendState appends both states.
func (s *sum) AppendState(dst []byte) []byte {
	return s.stream.AppendState(s.Machine.AppendState(dst))
}

// Restore restores both states.
func (s *sum) Restore(state []byte) error {
	n := s.Machine.StateLen()
	if len(state) < n {
		return errors.New("histories: state of a summing machine: too short")
	}
	return errors.Join(s.Machine.Restore(state[:n]), s.stream.Restore(state[n:]))
}
