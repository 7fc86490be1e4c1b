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
	later          bool          // a version with other semantics, which negates each event
	seen           *releases
}

// releases collects the first keys of the streams that a history opens, with which judges compute the decisions again.
type releases struct {
	mu   sync.Mutex
	keys [][32]byte // k₀ of each opening, the stream's first key
}

// mechanism is the cheapest mechanism with correlated noise.
var mechanism = mechanisms.Config{
	Name: "tree-gaussian", Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
	Contribution: contribution.OneComponent(1, 1),
	Terms:        protection.Terms{Scope: protection.Window{Steps: 16}, Unit: protection.Event{Exchange: dp.Replace}},
}

// calibrated returns the calibration of mechanism, computed once for all histories.
var calibrated = sync.OnceValues(func() ([]byte, error) {
	calibration, err := mechanisms.Calibrate(mechanism)
	if err != nil {
		return nil, err
	}
	return calibration.AppendBinary(nil)
})

func (s summing) Params() ([]byte, error) { return calibrated() }

func (s summing) Open(params []byte) (func([32]byte) (operators.Machine, error), error) {
	calibration, err := mechanisms.ParseCalibration(params)
	if err != nil {
		return nil, err
	}
	private, err := mechanisms.NewMechanism(mechanism, calibration)
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

// Add makes a step, which takes s.slow of the bubble's time.
func (s *sum) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	if s.of.slow > 0 {
		time.Sleep(s.of.slow)
	}
	var v []float64
	if !r.Null {
		v = []float64{float64(r.Event.Label * min(1, max(-1, r.Event.Vector.Values[0])))}
	}
	version := 1.
	if s.of.later {
		version = 2
		if !r.Null {
			v[0] = -v[0]
		}
	}
	s.stream.Add(r.Identity, v)
	from := len(dst)
	dst = s.Machine.Add(dst, r)
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
	if len(state) != s.StateLen() {
		return errors.New("histories: state of a summing machine: wrong length")
	}
	return errors.Join(s.Machine.Restore(state[:n]), s.stream.Restore(state[n:]))
}
