package mechanisms

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Sum is a private prefix sum, the part of a mechanism that adds noise: *windowtree.Tree or *blt.Sum. *perstep.PerStep
// is a Sum too, but releases the contribution sum of each step instead of a prefix sum.
type Sum interface {
	// Add takes the contribution sum v of step Steps()+1 and writes the release to dst. The chain must have absorbed
	// the step's events and closed the step BEFORE.
	Add(dst []float64, v []lattice.Int128, chain *noise.Chain)
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

	partial  []lattice.Int128 // contribution sum of the open step without recent, components concatenated
	recent   []int64          // sum of the last dense contributions of the open step
	added    int              // number of contributions in recent, below foldAfter
	released []float64        // the last release, loss units

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

// Add takes one record of the open step, the concatenated numbers of the components: it quantises, absorbs and
// accumulates them. A nil vector is the null event: it contributes nothing, and changes no noise. Only the length of
// later states may change, as with any first record of a partition. A step may have any number of records, because the
// stream does not count them.
func (s *Stream) Add(id noise.Identity, v []float64) {
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
	s.chain.Absorb(id, s.absorbed(integers))
	s.accumulate(integers)
	if s.draws != nil {
		s.draws.drawn = s.config.Draws.K // a step's draws come before the first record of the next step
	}
}

// Close closes the open step, whatever records it has: from then on Sum is the release of step Step.
func (s *Stream) Close() {
	if s.Ended() {
		panic(fmt.Sprintf("BUG: mechanisms: a step beyond the horizon of %d steps", s.end))
	}
	s.fold()
	if s.config.Contribution.Names > 0 {
		s.names().Whole(s.chain.Events())
	}
	s.chain.Close(s.Step() + 1)
	for i, sum := range s.sums {
		x := &s.components[i]
		sum.Add(s.released[x.from:x.to], s.partial[x.from:x.to], &s.chain)
		for j, root := range x.roots {
			s.released[x.from+j] = float64(s.released[x.from+j] * root)
		}
	}
	s.chain.Drawn()
	if s.draws != nil {
		s.draws.close(s.partial)
	}
	clear(s.partial)
}

// foldAfter is the number of dense contributions after which fold is due. No integer of a contribution exceeds Λ, which
// is below 2⁴³, so sums of this many are below 2⁶².
const foldAfter = 1 << 19

// accumulate adds a contribution to the open step, after the chain has absorbed it.
func (s *Stream) accumulate(integers []int64) {
	if integers != nil && s.pairs != nil {
		for i := 0; i < len(s.pairs); i += 2 {
			s.partial[s.pairs[i]] = s.partial[s.pairs[i]].AddInt64(s.pairs[i+1])
		}
		return
	}
	if integers == nil {
		return
	}
	for i, x := range integers {
		s.recent[i] += x
	}
	if s.added++; s.added == foldAfter {
		s.fold()
	}
}

// fold moves recent into partial. It changes no sum, only the number of bits that hold it.
func (s *Stream) fold() {
	for i, x := range s.recent {
		s.partial[i] = s.partial[i].AddInt64(x)
	}
	clear(s.recent)
	s.added = 0
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

// Tag returns a digest, under a name, of the history that the stream has absorbed. An intent record contains it as a
// commitment to the history. Equal histories under equal keys give equal tags. Without the state a tag cannot be
// distinguished from random bits, whatever the events are.
func (s *Stream) Tag(name string) [32]byte { return s.chain.Tag(name) }

// Rekey replaces the chain by a new one at key, without the records of the open step. It is for audits: runs from one
// state have independent noise only under different keys, because null events have no part in noise.
func (s *Stream) Rekey(key [32]byte) {
	s.chain = s.scratch.Chain(key)
	if s.config.Contribution.Names > 0 {
		s.names().Open().Reset()
	}
}

// A state is, little-endian: version u8, state of the chain, partial sum n × 16 bytes, last release n × f64, states of
// the sums. n counts the coordinates of all components. The components' coordinates are concatenated, and so are the
// states of their sums. A stream of ExponentialMechanism holds the sums of all contributions, n × i64, instead of the
// last release, and with Draws.MaxDraws it ends with the number of draw times so far, u64.

// StateLen returns the length of the state. It depends only on the configuration and on the number of partitions that
// had a record so far, null or not.
func (s *Stream) StateLen() int { return 1 + s.chain.StateLen() + s.restLen() }

// restLen returns the length of the state after the chain's, which is constant.
func (s *Stream) restLen() int {
	n := (lattice.Int128Len + 8) * len(s.partial)
	for _, sum := range s.sums {
		n += sum.StateLen()
	}
	if s.config.Draws.MaxDraws > 0 {
		n += 8
	}
	return n
}

// AppendState appends the state. It is private, because it holds the chain key and clean sums, and must only ever be
// stored sealed.
func (s *Stream) AppendState(dst []byte) []byte {
	s.fold()
	dst = s.chain.AppendState(append(dst, stateVersion))
	for _, x := range s.partial {
		dst = x.AppendBinary(dst)
	}
	for _, x := range s.totals() {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
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

// Restore restores a state that AppendState wrote. It refuses, and leaves the stream unchanged, if version, length or
// any public number is outside the range that this stream writes. It checks no private sum, because any number of
// records may be in it.
func (s *Stream) Restore(state []byte) error {
	if len(state) == 0 || state[0] != stateVersion {
		return fmt.Errorf("mechanisms: state: not of version %d", stateVersion)
	}
	chain, partial, err := s.scratch.CutState(state[1:])
	if err != nil {
		return fmt.Errorf("mechanisms: %w", err)
	}
	if len(partial) != s.restLen() {
		return fmt.Errorf("mechanisms: state: %d bytes after the chain, want %d", len(partial), s.restLen())
	}
	n := len(s.partial)
	released := partial[lattice.Int128Len*n:]
	rest := released[8*n:]
	drawTimes := uint64(0)
	if s.config.Draws.MaxDraws > 0 {
		drawTimes, rest = binary.LittleEndian.Uint64(rest[len(rest)-8:]), rest[:len(rest)-8]
	}
	if err := s.checkSteps(rest); err != nil {
		return err
	}
	if steps := binary.LittleEndian.Uint64(rest); drawTimes > min(s.config.Draws.MaxDraws, steps) {
		return fmt.Errorf("mechanisms: state: drawn %d times in %d steps", drawTimes, steps)
	}
	if err := s.checkReleases(released); err != nil {
		return err
	}
	if err := s.restoreSums(rest); err != nil {
		return fmt.Errorf("mechanisms: state: %w", err)
	}
	s.chain = chain
	clear(s.recent)
	s.added = 0
	for i := range n {
		s.partial[i] = lattice.ParseInt128(partial[lattice.Int128Len*i:])
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
func (s *Stream) checkSteps(sums []byte) error {
	steps := binary.LittleEndian.Uint64(sums)
	if s.ended(steps) {
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

// checkReleases checks that the last release is finite.
func (s *Stream) checkReleases(released []byte) error {
	if s.totals() != nil {
		return nil // the stream has sums in place of releases
	}
	for i := range s.released {
		x := math.Float64frombits(binary.LittleEndian.Uint64(released[8*i:]))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return errors.New("mechanisms: state: release is not finite")
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
