package mechanisms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/noise"
)

// Sum is a private prefix sum, the part of a mechanism that adds noise: *windowtree.Tree or *blt.Sum. *perstep.PerStep
// is a Sum too, but releases the contribution sum of each step instead of a prefix sum.
type Sum interface {
	// Add takes the contribution sum v of step Steps()+1 and writes the release to dst. The chain must have absorbed
	// the step's records BEFORE.
	Add(dst []float64, v []int64, chain *noise.Chain)
	Steps() uint64
	AppendState(dst []byte) []byte // the state must start with Steps, u64 little-endian
	StateLen() int
	// Restore leaves the sum unchanged if it returns an error.
	Restore(state []byte) error
}

// Stream is a private stream of sums, together with its guarantee. It is not safe for concurrent use, and neither are
// two streams of one Mechanism.
type Stream struct {
	*frame
	chain noise.Chain
	sums  []Sum // one for each component

	place    uint32    // number of records in the open batch
	partial  []int64   // contribution sum of the open batch, components concatenated
	released []float64 // the last release, loss units

	draws *drawState // for an exponential mechanism and DrawBy; otherwise nil
}

// Open opens a stream before its first record, with its own Mechanism. key is k₀, 256 secret random bits that no other
// stream may have.
func Open(c Config, p Calibration, key [32]byte) (*Stream, error) {
	m, err := NewMechanism(c, p)
	if err != nil {
		return nil, err
	}
	return m.Open(key), nil
}

// NewStream opens a stream over given sums, one for each component. Its guarantee is the calibration's, so the caller
// must ensure that the sums have the calibration's noise. NewStream is only for tests, which use zero noise or plant a
// fault; use Open otherwise.
func NewStream(c Config, p Calibration, key [32]byte, sums ...Sum) (*Stream, error) {
	guarantee, err := p.Guarantee(c)
	if err != nil {
		return nil, err
	}
	frame := newFrame(c, p, guarantee)
	return frame.overSums(key, sums)
}

// OpenOver is NewStream for an opened mechanism, whose guarantee is proved already.
func (s *Mechanism) OpenOver(key [32]byte, sums ...Sum) (*Stream, error) {
	return s.overSums(key, sums)
}

func (s *frame) overSums(key [32]byte, sums []Sum) (*Stream, error) {
	if len(sums) != len(s.components) {
		return nil, fmt.Errorf("mechanisms: %d sums, want %d components", len(sums), len(s.components))
	}
	return s.over(key, sums), nil
}

// Add takes one record, the concatenated numbers of the components: it quantises, absorbs and accumulates them. It
// reports whether the record closed a step, after which Sum is the release of step Step. A nil vector is the null
// event: it takes its place in the batch with a zero contribution, but the chain distinguishes it from zeros.
func (s *Stream) Add(id noise.Identity, v []float64) (closed bool) {
	if s.Ended() {
		panic(fmt.Sprintf("BUG: mechanisms: a record beyond the horizon of %d steps", s.end))
	}
	integers := s.contribution // scratch shared by the mechanism's streams
	if v == nil {
		integers = nil
	} else {
		if len(v) != s.entries {
			panic(fmt.Sprintf("BUG: mechanisms: vector has %d entries, want %d", len(v), s.entries))
		}
		for i := range s.components {
			x := &s.components[i]
			x.quantise(integers[x.from:x.to], v[:x.entries])
			v = v[x.entries:]
		}
	}
	s.chain.Absorb(s.Step()+1, s.place, id, s.absorbed(integers))
	s.accumulate(integers)
	s.place++
	if uint64(s.place) < s.config.Batch {
		return false
	}
	for i, sum := range s.sums {
		x := &s.components[i]
		sum.Add(s.released[x.from:x.to], s.partial[x.from:x.to], &s.chain)
		for j, root := range x.roots {
			s.released[x.from+j] = float64(s.released[x.from+j] * root)
		}
	}
	if s.draws != nil {
		s.draws.close(s.partial)
	}
	s.place = 0
	clear(s.partial)
	return true
}

// accumulate adds a contribution to the open batch, after the chain has absorbed it.
func (s *Stream) accumulate(integers []int64) {
	if integers != nil && s.pairs != nil {
		for i := 0; i < len(s.pairs); i += 2 {
			s.partial[s.pairs[i]] += s.pairs[i+1]
		}
		return
	}
	for i, x := range integers {
		s.partial[i] += x
	}
}

// Ended reports whether the last step of the horizon has closed. From then on a machine must not draw, and gets no
// record.
func (s *Stream) Ended() bool { return s.ended(s.Step() + 1) }

// ended reports whether a step is after the horizon.
func (s *Stream) ended(step uint64) bool { return step > s.end }

// Sum returns the private prefix sum of a component after the last closed step, in loss units, and zeros before the
// first. It is valid until the next Add; the caller must not modify it.
func (s *Stream) Sum(component int) []float64 {
	x := &s.components[component]
	return s.released[x.from:x.to:x.to]
}

// Step returns the number of closed steps.
func (s *Stream) Step() uint64 { return s.sums[0].Steps() }

// Place returns the number of records in the open step, fewer than a batch.
func (s *Stream) Place() int { return int(s.place) }

// Tag returns a digest, under a name, of the history that the stream has absorbed. An intent record contains it as a
// commitment to the history. Equal histories under equal keys give equal tags. Without the state a tag cannot be
// distinguished from random bits, whatever the events are.
func (s *Stream) Tag(name string) [32]byte { return s.chain.Tag(name) }

// A state is, little-endian: version u8, chain key 32 bytes, place u32, partial sum n × i64, last release n × f64,
// states of the sums. n counts the coordinates of all components. The components' coordinates are concatenated, and so
// are the states of their sums. Version 1 is for one component, 2 for several, 3 for ExponentialMechanism. Version 3
// holds the sums of all contributions, n × i64, instead of the last release, and with Draws.MaxDraws it ends with the
// number of draw times so far, u64.
const stateHead = 1 + 32 + 4

// StateLen returns the length of every state of this stream.
func (s *Stream) StateLen() int {
	n := stateHead + 16*len(s.partial)
	for _, sum := range s.sums {
		n += sum.StateLen()
	}
	if s.config.Draws.MaxDraws > 0 {
		n += 8
	}
	return n
}

func (s *Stream) stateVersion() byte {
	if s.totals() != nil {
		return drawnStateVersion
	}
	if len(s.sums) > 1 {
		return componentsStateVersion
	}
	return stateVersion
}

// AppendState appends the state. It is private, because it holds the chain key and clean sums, and must only ever be
// stored sealed.
func (s *Stream) AppendState(dst []byte) []byte {
	key := s.chain.Key()
	dst = append(append(dst, s.stateVersion()), key[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, s.place)
	for _, integers := range [2][]int64{s.partial, s.totals()} {
		for _, x := range integers {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
		}
	}
	if s.totals() == nil {
		for _, x := range s.released {
			dst = appendFloat(dst, x)
		}
	}
	dst = s.appendSums(dst)
	if s.config.Draws.MaxDraws > 0 {
		dst = binary.LittleEndian.AppendUint64(dst, s.draws.drawTimes)
	}
	return dst
}

func (s *Stream) appendSums(dst []byte) []byte {
	for _, sum := range s.sums {
		dst = sum.AppendState(dst)
	}
	return dst
}

// Restore restores a state that AppendState wrote. It refuses, and leaves the stream unchanged, if version, length,
// place or any number is outside the range that this stream writes.
func (s *Stream) Restore(state []byte) error {
	if version := s.stateVersion(); len(state) == 0 || state[0] != version {
		return fmt.Errorf("mechanisms: state: not of version %d", version)
	}
	if len(state) != s.StateLen() {
		return fmt.Errorf("mechanisms: state: %d bytes, want %d", len(state), s.StateLen())
	}
	n := len(s.partial)
	key, place := [32]byte(state[1:]), binary.LittleEndian.Uint32(state[33:])
	partial, released, rest := state[stateHead:], state[stateHead+8*n:], state[stateHead+16*n:]
	if uint64(place) >= s.config.Batch {
		return fmt.Errorf("mechanisms: state: place %d in a batch of %d", place, s.config.Batch)
	}
	drawTimes := uint64(0)
	if s.config.Draws.MaxDraws > 0 {
		drawTimes, rest = binary.LittleEndian.Uint64(rest[len(rest)-8:]), rest[:len(rest)-8]
	}
	if err := s.checkSteps(rest, place); err != nil {
		return err
	}
	if steps := binary.LittleEndian.Uint64(rest); drawTimes > min(s.config.Draws.MaxDraws, steps) {
		return fmt.Errorf("mechanisms: state: drawn %d times in %d steps", drawTimes, steps)
	}
	if err := s.checkNumbers(partial, released, place, binary.LittleEndian.Uint64(rest)); err != nil {
		return err
	}
	if err := s.restoreSums(rest); err != nil {
		return fmt.Errorf("mechanisms: state: %w", err)
	}
	s.chain, s.place = s.scratch.Chain(key), place
	for i := range n {
		s.partial[i] = int64(binary.LittleEndian.Uint64(partial[8*i:]))
		if s.totals() != nil {
			s.draws.totals[i] = int64(binary.LittleEndian.Uint64(released[8*i:]))
			continue
		}
		s.released[i] = math.Float64frombits(binary.LittleEndian.Uint64(released[8*i:]))
	}
	if s.totals() != nil {
		s.draws.drawn, s.draws.drawTimes = s.config.Draws.K, drawTimes // all k draws after the last step are made
	}
	return nil
}

// checkSteps checks that all sums have closed the same number of steps, at most the horizon's.
func (s *Stream) checkSteps(sums []byte, place uint32) error {
	steps := binary.LittleEndian.Uint64(sums)
	if s.ended(steps) || place > 0 && s.ended(steps+1) {
		return fmt.Errorf("mechanisms: state: beyond the horizon of %d steps", s.end)
	}
	for _, sum := range s.sums {
		if binary.LittleEndian.Uint64(sums) != steps {
			return errors.New("mechanisms: state: sums of different steps")
		}
		sums = sums[sum.StateLen():]
	}
	return nil
}

// checkNumbers checks that place contributions can add up to the open batch, and those of steps to the totals, and that
// the last release is finite.
func (s *Stream) checkNumbers(partial, released []byte, place uint32, steps uint64) error {
	for k := range s.components {
		x := &s.components[k]
		limit := int64(place) * x.grid.Lambda
		for i := x.from; i < x.to; i++ {
			if x := int64(binary.LittleEndian.Uint64(partial[8*i:])); x > limit || x < -limit {
				return errors.New("mechanisms: state: partial sum is beyond its bound")
			}
			if s.totals() != nil {
				most := int64(steps*s.config.Batch) * s.components[k].grid.Lambda // below 2⁶³ by exponential.problems
				if x := int64(binary.LittleEndian.Uint64(released[8*i:])); x > most || x < -most {
					return errors.New("mechanisms: state: a sum is beyond its bound")
				}
				continue
			}
			x := math.Float64frombits(binary.LittleEndian.Uint64(released[8*i:]))
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return errors.New("mechanisms: state: release is not finite")
			}
		}
	}
	return nil
}

// restoreSums restores all sums, or none.
func (s *Stream) restoreSums(state []byte) error {
	if len(s.sums) == 1 {
		return s.sums[0].Restore(state)
	}
	s.undo = s.appendSums(s.undo[:0])
	before := s.undo
	for i, sum := range s.sums {
		n := sum.StateLen()
		err := sum.Restore(state[:n])
		if err == nil {
			state = state[n:]
			continue
		}
		for _, restored := range s.sums[:i] {
			if restored.Restore(before[:restored.StateLen()]) != nil {
				panic("BUG: mechanisms: a sum refuses its own state")
			}
			before = before[restored.StateLen():]
		}
		return err
	}
	return nil
}
