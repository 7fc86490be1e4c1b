package operators

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
)

// Base is embedded by machines and provides the methods that most of them share. One in Every steps publishes Count
// decisions, whose indices ascend over both topics. No decision is due before the first record. A machine with another
// schedule must define its own Open and Due.
//
// A state is, little-endian:
//
//	version u8 ‖ fields ‖ state of the stream
type Base struct {
	Operator string // name of the operator, for errors
	Stream   *mechanisms.Stream
	Every    uint64 // number of steps from one decision to the next; 0 means 1
	Count    int    // number of decisions that these steps publish, in both topics together; 0 means 1

	Version byte
	Fields  []Field

	// Check refuses a restored state whose fields contradict each other or the stream. If it is nil, every state is
	// accepted.
	Check func() error
}

// CheckStream refuses a stream whose terms or batch are not the settings'. It also refuses a stream that releases each
// step separately, and one whose only component does not have the given number of coordinates and entries of a
// contribution.
func (b Base) CheckStream(coordinates, entries int, terms protection.Terms, batch uint64) error {
	s := b.Stream
	if s.Components() != 1 || s.Dimension() != coordinates || len(s.Scratch()) != entries {
		return fmt.Errorf("%s: the stream has %d components and %d coordinates, want one with %d", b.Operator, s.Components(),
			s.Dimension(), coordinates)
	}
	if s.PerStep() || s.Terms() != terms || s.Batch() != batch {
		return fmt.Errorf("%s: the stream has other sums, or other terms, than the settings say", b.Operator)
	}
	return nil
}

// Field is a section of a machine's state. Its length depends only on the configuration.
type Field interface {
	StateLen() int
	AppendState(dst []byte) []byte

	// Restore reads StateLen bytes. Base calls it after the stream is restored. If it fails, Base restores the
	// machine's earlier state.
	Restore(state []byte) error
}

// PrivateField is a Field that holds contents of records, for example contexts that wait for their feedback.
type PrivateField interface {
	Field

	// AppendShared appends the rest of the state, which is equal on neighbouring streams.
	AppendShared(dst []byte) []byte
}

// Open appends no decision, because none is due before the first record.
func (b *Base) Open(dst []Decision) []Decision { return dst }

// Steps returns the number of closed steps.
func (b *Base) Steps() uint64 { return b.Stream.Step() }

// Due returns the first index and the number of the decisions of a step. If steps have only one decision, its index is
// the step.
func (b *Base) Due(step uint64) (first uint64, count int) {
	if step == 0 || step%max(1, b.Every) != 0 {
		return 0, 0
	}
	count = max(1, b.Count)
	return uint64(count)*(step-1) + 1, count
}

// Guarantee returns the guarantee of the stream, because everything computed from the private sum is post-processing.
func (b *Base) Guarantee() protection.Guarantee { return b.Stream.Guarantee() }

// StateLen returns the length of the state in bytes. Only the stream's part changes (see mechanisms.Stream).
func (b *Base) StateLen() int { return b.fieldsEnd() + b.Stream.StateLen() }

// fieldsEnd returns where the stream's state starts in every state of this machine.
func (b *Base) fieldsEnd() int {
	n := 1
	for _, f := range b.Fields {
		n += f.StateLen()
	}
	return n
}

// AppendState appends the state. It may be called while a step is open.
func (b *Base) AppendState(dst []byte) []byte {
	dst = append(dst, b.Version)
	for _, f := range b.Fields {
		dst = f.AppendState(dst)
	}
	return b.Stream.AppendState(dst)
}

// AppendPublic appends the part of the state that neighbouring streams share while their releases are equal. It leaves
// out the state of the stream and the contents that a PrivateField holds.
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

// Restore reads a state that AppendState wrote under the same configuration. After an error the machine is unchanged.
func (b *Base) Restore(state []byte) error {
	if len(state) < b.fieldsEnd() {
		return fmt.Errorf("%s: state: %d bytes, this configuration has at least %d", b.Operator, len(state), b.fieldsEnd())
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

// restore stops at the first component that refuses its bytes.
func (b *Base) restore(state []byte) error {
	split := b.fieldsEnd()
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

// Floats returns a field that stores the numbers of v. refuse may return an error for numbers that were read; nil
// accepts all numbers.
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

// Sums returns a field that stores a reading of the stream: sums that decay with another memory.
func Sums(r *mechanisms.Reading, stream *mechanisms.Stream) Field { return sums{r, stream} }

type sums struct {
	*mechanisms.Reading
	stream *mechanisms.Stream
}

func (s sums) Restore(state []byte) error { return s.Reading.Restore(state, s.stream.Step() == 0) }

// Counter returns a field that stores *n, which may be any number.
func Counter(n *uint64) Field { return counter{n} }

type counter struct{ n *uint64 }

func (counter) StateLen() int { return 8 }

func (c counter) AppendState(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, *c.n) }

func (c counter) Restore(state []byte) error {
	*c.n = binary.LittleEndian.Uint64(state)
	return nil
}
