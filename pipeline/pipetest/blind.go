package pipetest

import (
	"encoding/binary"
	"errors"

	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
)

// Blind is a machine that ignores events: each record is a step, whose decision is its own index and the offset of the
// record. With it, everything that the pipeline publishes must be equal for inputs with equal public properties. Its
// decisions show which records were taken, and in which order.
type Blind struct {
	States protection.Guarantee // guarantee that its decisions state; made up
	Second uint64               // steps between decisions for the second topic; 0: no such decisions

	// Owed is the number of decisions before the first record, like the actions of a bandit. If there is a second
	// topic, the last of them is for that topic. They contain a number drawn with the stream's first key and the number
	// of calls of Open. So a second opening, or a second call of Open, gives other bytes.
	Owed int

	Descriptor []byte // descriptor of the operator; nil: none

	steps  uint64
	offset int64 // offset of the last record
	opened uint32
	drawn  uint32
}

// Learner returns an opener of machines like b, at step 0.
func (b Blind) Learner() streams.Opener { return blindLearner{b: b} }

// Instead returns the learner l with machines like b in place of its own.
func (b Blind) Instead(l streams.Opener) streams.Opener { return blindLearner{l, b} }

// blindLearner opens blind machines. All other methods come from another learner, if there is one.
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

func (l blindLearner) Open([]byte) (func([32]byte) (operators.Machine, error), error) {
	return func(key [32]byte) (operators.Machine, error) {
		machine := l.b
		machine.drawn = binary.LittleEndian.Uint32(key[:])
		return &machine, nil
	}, nil
}

// blindOperator is the operator of blind machines. A service asks it only for its topics and members.
type blindOperator struct {
	operators.Operator
	second     bool
	descriptor []byte
}

func (o blindOperator) Descriptor() []byte { return o.descriptor }

func (blindOperator) Extras() []decision.Extra { return nil }

func (o blindOperator) SecondTopic() *operators.Output {
	if o.second {
		return &operators.Output{Suffix: "plays"}
	}
	return nil
}

// Open appends the decisions that are owed before the first record.
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

// Add keeps the offset of the record.
func (b *Blind) Add(r operators.Record) { b.offset = r.Identity.Offset }

// Close appends the decisions of a step.
func (b *Blind) Close(dst []operators.Decision) []operators.Decision {
	b.steps++
	first, count := b.Due(b.steps)
	for i := range uint64(count) {
		dst = append(dst, operators.Decision{
			Index: first + i, Step: b.steps, Point: []float64{float64(first + i), float64(b.offset)}, Output: uint8(i),
		})
	}
	return dst
}

// Steps returns the number of closed steps.
func (b *Blind) Steps() uint64 { return b.steps }

// Due returns one decision for each step and one more for each Second-th step; for step 0 it returns the decisions owed
// before the first record.
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

// StateLen returns the length of the step count, plus the length of two more numbers if decisions are owed.
func (b *Blind) StateLen() int {
	if b.Owed > 0 {
		return 16
	}
	return 8
}

// AppendState appends the number of steps, and if decisions are owed the number of openings and the drawn number.
func (b *Blind) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, b.steps)
	if b.Owed > 0 {
		dst = binary.LittleEndian.AppendUint32(dst, b.opened)
		dst = binary.LittleEndian.AppendUint32(dst, b.drawn)
	}
	return dst
}

// Restore reads the bytes that AppendState has written.
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

// Guarantee returns the guarantee that b was made with.
func (b *Blind) Guarantee() protection.Guarantee { return b.States }
