package mechanisms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
)

// Sum is a private prefix sum: the part of a mechanism below the stream. *windowtree.Tree and *blt.Carry are. *once.Once is
// one too, but releases the leaf sum of a step in the place of a prefix sum.
type Sum interface {
	// Add takes the leaf sum v of step Steps()+1 and writes the release to dst. BEFORE, chain has absorbed the step's records.
	Add(dst []float64, v []int64, chain *noise.Chain)
	Steps() uint64
	AppendState(dst []byte) []byte // starts with Steps, u64 little-endian
	StateLen() int
	// Restore leaves the sum as it was when it returns an error.
	Restore(state []byte) error
}

// Stream is a private stream of sums and the guarantee they have. It is not safe for concurrent use.
type Stream struct {
	config    Config
	plan      Plan
	guarantee dp.Guarantee
	chain     *noise.Chain
	sum       Sum

	place    uint32    // records of the open batch
	partial  []int64   // their leaf sum
	leaf     []int64   // of the last record, scratch
	released []float64 // the last release
}

// Open opens a stream before its first record. key is k₀, 256 secret random bits for this stream and no other.
func Open(c Config, p Plan, key [32]byte) (*Stream, error) {
	if err := errors.Join(c.Validate(), p.validate()); err != nil {
		return nil, err
	}
	sum, err := p.newSum(c)
	if err != nil {
		return nil, fmt.Errorf("mechanisms: plan: %w", err)
	}
	return NewStream(c, p, key, sum)
}

// NewStream opens a stream over a given sum. The guarantee is the plan's: the caller answers for sum having the plan's noise. Open is
// the way to get a stream; this one is for tests, which put zero noise or a planted fault in its place.
func NewStream(c Config, p Plan, key [32]byte, sum Sum) (*Stream, error) {
	guarantee, err := p.Guarantee(c)
	if err != nil {
		return nil, err
	}
	return &Stream{
		config:    c,
		plan:      p,
		guarantee: guarantee,
		chain:     noise.NewChain(key),
		sum:       sum,
		partial:   make([]int64, c.Dimension),
		leaf:      make([]int64, c.Dimension),
		released:  make([]float64, c.Dimension),
	}, nil
}

// Add takes one record: quantise, absorb, accumulate. It reports whether the record closed a step, after which Sum is the release
// of step Step. A nil gradient is the null event: it takes its place in the batch with a zero leaf, and is told apart in the chain.
func (s *Stream) Add(id noise.Identity, gradient []float64) (closed bool) {
	if s.ended(s.sum.Steps() + 1) {
		panic(fmt.Sprintf("BUG: mechanisms: a record beyond the horizon of %d steps", s.config.Horizon))
	}
	leaf := s.leaf
	if gradient == nil {
		leaf = nil
	} else {
		if len(gradient) != len(leaf) {
			panic(fmt.Sprintf("BUG: mechanisms: gradient has %d entries, want %d", len(gradient), len(leaf)))
		}
		s.plan.Grid.Quantise(leaf, gradient)
	}
	s.chain.Absorb(s.sum.Steps()+1, s.place, id, leaf)
	for i, x := range leaf {
		s.partial[i] += x
	}
	s.place++
	if uint64(s.place) < s.config.Batch {
		return false
	}
	s.sum.Add(s.released, s.partial, s.chain)
	s.place = 0
	clear(s.partial)
	return true
}

// ended reports whether a step is beyond the horizon.
func (s *Stream) ended(step uint64) bool { return s.config.Horizon > 0 && step > s.config.Horizon }

// Sum returns the private prefix sum after the last closed step, zeros before the first. It is valid until the next Add and must not be
// written to.
func (s *Stream) Sum() []float64 { return s.released }

// Step returns the number of closed steps.
func (s *Stream) Step() uint64 { return s.sum.Steps() }

// Dimension returns n.
func (s *Stream) Dimension() int { return s.config.Dimension }

// Batch returns B.
func (s *Stream) Batch() uint64 { return s.config.Batch }

// Once reports whether releases are of single steps, and not prefix sums.
func (s *Stream) Once() bool {
	kind, _ := familyOf(s.plan.Name)
	return kind.structure == single{}
}

// Horizon returns T, after which Add panics; 0 means no end.
func (s *Stream) Horizon() uint64 { return s.config.Horizon }

// ErrorBound returns Plan.ErrorBound.
func (s *Stream) ErrorBound() float64 { return s.plan.ErrorBound }

// Guarantee returns what the stream proves.
func (s *Stream) Guarantee() dp.Guarantee { return s.guarantee }

// A state is, little-endian: version u8, chain key 32 bytes, place u32, partial sum n × i64, last release n × f64, state of the sum.
const stateHead = 1 + 32 + 4

// StateLen returns the length of every state of this stream.
func (s *Stream) StateLen() int { return stateHead + 16*s.config.Dimension + s.sum.StateLen() }

// AppendState appends the state. It is private: it holds the chain key and clean sums, and is only ever sealed.
func (s *Stream) AppendState(dst []byte) []byte {
	key := s.chain.Key()
	dst = append(append(dst, stateVersion), key[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, s.place)
	for _, x := range s.partial {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
	}
	for _, x := range s.released {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return s.sum.AppendState(dst)
}

// Restore makes the stream the one whose AppendState wrote state. It refuses, and leaves the stream as it was, when version, length,
// place or any bound is not what this stream writes.
func (s *Stream) Restore(state []byte) error {
	if len(state) == 0 || state[0] != stateVersion {
		return fmt.Errorf("mechanisms: state: not of version %d", stateVersion)
	}
	if len(state) != s.StateLen() {
		return fmt.Errorf("mechanisms: state: %d bytes, want %d", len(state), s.StateLen())
	}
	n := s.config.Dimension
	key, place := [32]byte(state[1:]), binary.LittleEndian.Uint32(state[33:])
	partial, released, rest := state[stateHead:], state[stateHead+8*n:], state[stateHead+16*n:]
	if uint64(place) >= s.config.Batch {
		return fmt.Errorf("mechanisms: state: place %d in a batch of %d", place, s.config.Batch)
	}
	steps := binary.LittleEndian.Uint64(rest)
	if s.ended(steps) || place > 0 && s.ended(steps+1) {
		return fmt.Errorf("mechanisms: state: beyond the horizon of %d steps", s.config.Horizon)
	}
	limit := int64(place) * s.plan.Grid.Lambda
	for i := range n {
		if x := int64(binary.LittleEndian.Uint64(partial[8*i:])); x > limit || x < -limit {
			return errors.New("mechanisms: state: partial sum is beyond its bound")
		}
		if x := math.Float64frombits(binary.LittleEndian.Uint64(released[8*i:])); math.IsNaN(x) || math.IsInf(x, 0) {
			return errors.New("mechanisms: state: release is not finite")
		}
	}
	if err := s.sum.Restore(rest); err != nil {
		return fmt.Errorf("mechanisms: state: %w", err)
	}
	s.chain, s.place = noise.NewChain(key), place
	for i := range n {
		s.partial[i] = int64(binary.LittleEndian.Uint64(partial[8*i:]))
		s.released[i] = math.Float64frombits(binary.LittleEndian.Uint64(released[8*i:]))
	}
	return nil
}
