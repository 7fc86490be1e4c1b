package pipetest

import (
	"encoding/binary"
	"errors"

	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas"
)

// Blind is a machine that does not look at events: each record is a step, whose decision is its own index and the
// offset of its record. With it, everything that leaves the pipeline must be equal for inputs that are publicly equal;
// and its decisions say which records were taken, and in what order.
type Blind struct {
	States protection.Guarantee // what its decisions print; nothing of it is true
	Second uint64               // each so many steps a further decision, for the second topic; 0: none ever

	// Owed is how many decisions come before the first record, as plays of a bandit do. With a second topic the last of
	// them is for that one. They say a number that is drawn with the stream's first key, and how often Open was called:
	// a second opening, or a second call, gives other bytes.
	Owed int

	Descriptor []byte // of its operator; nil: none

	steps  uint64
	opened uint32
	drawn  uint32
}

// Learner opens machines like b, at step 0.
func (b Blind) Learner() streams.Opener { return blindLearner{b: b} }

// Instead is the learner l, whose machines are like b.
func (b Blind) Instead(l streams.Opener) streams.Opener { return blindLearner{l, b} }

// blindLearner opens blind machines. Everything else is another learner's, if there is one.
type blindLearner struct {
	streams.Opener
	b Blind
}

func (l blindLearner) Operator() operators.Operator {
	if l.Opener != nil {
		return l.Opener.Operator()
	}
	return blindOperator{second: l.b.Second > 0, descriptor: l.b.Descriptor}
}

func (l blindLearner) Params() ([]byte, error) {
	if l.Opener != nil {
		return l.Opener.Params()
	}
	return nil, nil
}

// Timed says yes where no other learner says what it is.
func (l blindLearner) Timed(params []byte) bool {
	return l.Opener == nil || l.Opener.Timed(params)
}

func (l blindLearner) Open([]byte) (func([32]byte) (operators.Machine, error), error) {
	return func(key [32]byte) (operators.Machine, error) {
		machine := l.b
		machine.drawn = binary.LittleEndian.Uint32(key[:])
		return &machine, nil
	}, nil
}

// blindOperator is the operator of blind machines, which a service only asks for its topics and members.
type blindOperator struct {
	operators.Operator
	second     bool
	descriptor []byte
}

func (o blindOperator) Descriptor() []byte { return o.descriptor }

func (blindOperator) Extras() []schemas.Extra { return nil }

func (o blindOperator) SecondTopic() *operators.Output {
	if o.second {
		return &operators.Output{Suffix: "plays"}
	}
	return nil
}

// Open gives what is owed.
func (b *Blind) Open(dst []operators.Decision) []operators.Decision {
	b.opened++
	for i := range b.Owed {
		d := operators.Decision{Index: uint64(i + 1), Point: []float64{float64(b.opened), float64(b.drawn)}}
		if b.Second > 0 && i == b.Owed-1 {
			d.Output = 1
		}
		dst = append(dst, d)
	}
	return dst
}

// Add decides.
func (b *Blind) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	b.steps++
	first, count := b.Due(b.steps)
	for i := range uint64(count) {
		dst = append(dst, operators.Decision{
			Index: first + i, Step: b.steps, Point: []float64{float64(first + i), float64(r.Identity.Offset)}, Output: uint8(i),
		})
	}
	return dst
}

// Steps counts records.
func (b *Blind) Steps() uint64 { return b.steps }

// Due is one decision a step, and at each Second-th one more; at step 0 what is owed.
func (b *Blind) Due(step uint64) (first uint64, count int) {
	owed := uint64(b.Owed)
	switch {
	case step == 0:
		return min(1, owed), b.Owed
	case b.Second == 0:
		return owed + step, 1
	case step%b.Second == 0:
		return owed + step + step/b.Second - 1, 2
	}
	return owed + step + step/b.Second, 1
}

// StateLen is that of a number, and of two more where decisions are owed.
func (b *Blind) StateLen() int {
	if b.Owed > 0 {
		return 16
	}
	return 8
}

// AppendState appends the number of records.
func (b *Blind) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, b.steps)
	if b.Owed > 0 {
		dst = binary.LittleEndian.AppendUint32(dst, b.opened)
		dst = binary.LittleEndian.AppendUint32(dst, b.drawn)
	}
	return dst
}

// Restore takes it back.
func (b *Blind) Restore(state []byte) error {
	if len(state) != b.StateLen() {
		return errors.New("pipetest: state of a blind machine: wrong length")
	}
	b.steps = binary.LittleEndian.Uint64(state)
	if b.Owed > 0 {
		b.opened, b.drawn = binary.LittleEndian.Uint32(state[8:]), binary.LittleEndian.Uint32(state[12:])
	}
	return nil
}

// Guarantee is what it was given.
func (b *Blind) Guarantee() protection.Guarantee { return b.States }
