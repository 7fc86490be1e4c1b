package operators

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
)

// Base is embedded by machines, and has the methods that most of them share. Every so many steps a step publishes
// Count decisions, with ascending indices over both topics, and none is owed before the first record. A machine with
// another schedule has its own Open and Due.
//
// A state is, little-endian:
//
//	version u8 ‖ fields ‖ state of the stream
type Base struct {
	Operator string // its name, for errors
	Stream   *mechanisms.Stream
	Every    uint64 // steps from one decision to the next; 0: 1
	Count    int    // decisions of such a step, in both topics together; 0: 1

	Version byte
	Fields  []Field

	// Check refuses a restored state whose fields contradict each other or the stream. nil: every state is possible.
	Check func() error
}

// Field is a part of a machine's state. Its length depends on the configuration alone.
type Field interface {
	StateLen() int
	AppendState(dst []byte) []byte

	// Restore reads StateLen bytes. The stream has been restored before. After an error Base puts back what was there.
	Restore(state []byte) error
}

// PrivateField is a Field that holds what records say, for example contexts that wait for their feedback.
type PrivateField interface {
	Field

	// AppendShared appends the rest of the state, which neighbouring streams share.
	AppendShared(dst []byte) []byte
}

// Open owes nothing.
func (b *Base) Open(dst []Decision) []Decision { return dst }

// Steps counts the closed steps.
func (b *Base) Steps() uint64 { return b.Stream.Step() }

// Due returns the first index of a step's decisions, and how many they are. A single decision has the step as its
// index.
func (b *Base) Due(step uint64) (first uint64, count int) {
	if step == 0 || step%max(1, b.Every) != 0 {
		return 0, 0
	}
	count = max(1, b.Count)
	return uint64(count)*(step-1) + 1, count
}

// Guarantee is the stream's: everything behind the private sum is post-processing.
func (b *Base) Guarantee() protection.Guarantee { return b.Stream.Guarantee() }

// StateLen is the length of every state of this machine.
func (b *Base) StateLen() int {
	n := 1 + b.Stream.StateLen()
	for _, f := range b.Fields {
		n += f.StateLen()
	}
	return n
}

// AppendState appends the state, also inside a batch.
func (b *Base) AppendState(dst []byte) []byte {
	dst = append(dst, b.Version)
	for _, f := range b.Fields {
		dst = f.AppendState(dst)
	}
	return b.Stream.AppendState(dst)
}

// AppendPublic appends what neighbouring streams share of the state while their releases are equal: all but the state
// of the stream, and what a PrivateField holds.
func (b *Base) AppendPublic(dst []byte) []byte {
	dst = append(dst, b.Version)
	for _, f := range b.Fields {
		if private, ok := f.(PrivateField); ok {
			dst = private.AppendShared(dst)
		} else {
			dst = f.AppendState(dst)
		}
	}
	return dst
}

// Restore reads a state that AppendState of the same configuration has written. After an error nothing has changed.
func (b *Base) Restore(state []byte) error {
	if len(state) != b.StateLen() {
		return fmt.Errorf("%s: state: %d bytes, this configuration has %d", b.Operator, len(state), b.StateLen())
	}
	if state[0] != b.Version {
		return fmt.Errorf("%s: state: version %d, this software knows %d", b.Operator, state[0], b.Version)
	}
	before := b.AppendState(nil)
	if err := b.restore(state); err != nil {
		if undo := b.restore(before); undo != nil {
			panic("BUG: " + b.Operator + ": own state refused: " + undo.Error())
		}
		return fmt.Errorf("%s: state: %w", b.Operator, err)
	}
	return nil
}

// restore stops at the first component that is refused.
func (b *Base) restore(state []byte) error {
	split := len(state) - b.Stream.StateLen()
	fields := state[1:split]
	if err := b.Stream.Restore(state[split:]); err != nil {
		return err
	}
	for _, f := range b.Fields {
		n := f.StateLen()
		if err := f.Restore(fields[:n]); err != nil {
			return err
		}
		fields = fields[n:]
	}
	if b.Check == nil {
		return nil
	}
	return b.Check()
}

// Floats is a field of as many numbers. refuse may refuse them after they were read; nil: all numbers are possible.
func Floats(v []float64, refuse func() error) Field { return floats{v, refuse} }

type floats struct {
	v      []float64
	refuse func() error
}

func (f floats) StateLen() int { return 8 * len(f.v) }

func (f floats) AppendState(dst []byte) []byte {
	dst = slices.Grow(dst, f.StateLen())
	for _, x := range f.v {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
	}
	return dst
}

func (f floats) Restore(state []byte) error {
	for i := range f.v {
		f.v[i] = math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:]))
	}
	if f.refuse == nil {
		return nil
	}
	return f.refuse()
}

// Sums is a field of a reading of the stream, the sums under another memory.
func Sums(r *mechanisms.Reading, stream *mechanisms.Stream) Field { return sums{r, stream} }

type sums struct {
	*mechanisms.Reading
	stream *mechanisms.Stream
}

func (s sums) Restore(state []byte) error { return s.Reading.Restore(state, s.stream.Step() == 0) }

// Counter is a field of a number that may be anything.
func Counter(n *uint64) Field { return counter{n} }

type counter struct{ n *uint64 }

func (counter) StateLen() int { return 8 }

func (c counter) AppendState(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, *c.n) }

func (c counter) Restore(state []byte) error {
	*c.n = binary.LittleEndian.Uint64(state)
	return nil
}
