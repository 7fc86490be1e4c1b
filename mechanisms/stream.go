package mechanisms

import (
	"fmt"

	"oriel/mechanisms/noise"
)

// Sum is a private prefix sum: the part of a mechanism below the stream. *windowtree.Tree and *blt.Sum are.
// *perstep.PerStep is one too, but releases the contribution sum of a step in the place of a prefix sum.
type Sum interface {
	// Add takes the contribution sum v of step Steps()+1 and writes the release to dst. BEFORE, chain has absorbed the
	// step's records.
	Add(dst []float64, v []int64, chain *noise.Chain)
	Steps() uint64
	AppendState(dst []byte) []byte // starts with Steps, u64 little-endian
	StateLen() int
	// Restore leaves the sum as it was when it returns an error.
	Restore(state []byte) error
}

// Stream is a private stream of sums and the guarantee they have. It is not safe for concurrent use, nor are two
// streams of a Mechanism.
type Stream struct {
	*frame
	chain noise.Chain
	sums  []Sum // one a part

	place    uint32    // records of the open batch
	partial  []int64   // their leaf sum, the parts one behind the other
	released []float64 // the last release

	draws *drawState // of ExponentialMechanism, and of DrawBy; else nil
}

// Open opens a stream before its first record, with a Mechanism of its own. key is k₀, 256 secret random bits for this
// stream and no other.
func Open(c Config, p Calibration, key [32]byte) (*Stream, error) {
	seat, err := NewMechanism(c, p)
	if err != nil {
		return nil, err
	}
	return seat.Open(key), nil
}

// NewStream opens a stream over given sums, one a component. The guarantee is the plan's: the caller answers for the
// sums having the plan's noise. Open is the way to get a stream; this one is for tests, which put zero noise or a
// planted fault in its place.
func NewStream(c Config, p Calibration, key [32]byte, sums ...Sum) (*Stream, error) {
	frame, err := newFrame(c, p)
	if err != nil {
		return nil, err
	}
	if len(sums) != len(frame.components) {
		return nil, fmt.Errorf("mechanisms: %d sums of %d parts", len(sums), len(frame.components))
	}
	return frame.over(key, sums), nil
}

// Add takes one record, the numbers of the components one behind the other: quantise, absorb, accumulate. It reports
// whether the record closed a step, after which Sum is the release of step Step. A nil vector is the null event: it
// takes its place in the batch with a zero contribution, and is told apart in the chain.
func (s *Stream) Add(id noise.Identity, v []float64) (closed bool) {
	if s.Ended() {
		panic(fmt.Sprintf("BUG: mechanisms: a record beyond the horizon of %d steps", s.end))
	}
	leaf := s.contribution // scratch of the seat
	if v == nil {
		leaf = nil
	} else {
		if len(v) != s.entries {
			panic(fmt.Sprintf("BUG: mechanisms: vector has %d entries, want %d", len(v), s.entries))
		}
		for i := range s.components {
			x := &s.components[i]
			x.quantise(leaf[x.from:x.to], v[:x.entries])
			v = v[x.entries:]
		}
	}
	s.chain.Absorb(s.Step()+1, s.place, id, s.absorbed(leaf))
	for i, x := range leaf {
		s.partial[i] += x
	}
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

// Ended reports whether the last step of the horizon has closed: a machine then draws nothing more, and is given no
// record.
func (s *Stream) Ended() bool { return s.ended(s.Step() + 1) }

// ended reports whether a step is beyond the horizon.
func (s *Stream) ended(step uint64) bool { return step > s.end }

// Sum returns the private prefix sum of a component after the last closed step, loss units, zeros before the first. It
// is valid until the next Add and must not be written to.
func (s *Stream) Sum(part int) []float64 {
	x := &s.components[part]
	return s.released[x.from:x.to:x.to]
}

// Step returns the number of closed steps.
func (s *Stream) Step() uint64 { return s.sums[0].Steps() }

// Place returns how many records the open step has, fewer than a batch.
func (s *Stream) Place() int { return int(s.place) }

// Tag returns a digest of the history that the stream has absorbed, under a name: what an intent promises. Equal
// histories under equal keys give equal tags, and to all who do not hold the state a tag looks like random bits,
// whatever the events are.
func (s *Stream) Tag(name string) [32]byte { return s.chain.Tag(name) }
