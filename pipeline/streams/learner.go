package streams

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"oriel/mechanisms"
	"oriel/operators"
)

// Opener opens the machines of a deployment. It is a Learner; tests and demonstrations change one of its methods.
type Opener interface {
	Operator() operators.Operator

	// Params returns the results of calibration. It is called once, at opening; the incarnation record freezes them.
	Params() ([]byte, error)

	// Open checks frozen params, which must prove the configured guarantee, and opens the parts that all streams share.
	// The returned function is cheap: it makes the machine of a stream at step 0. Machines of one call share memory and
	// must be used one at a time.
	Open(params []byte) (func(key [32]byte) (operators.Machine, error), error)
}

// Learner is an operator and the mechanism that makes its releases private. The streams of a deployment are opened from
// it.
type Learner struct {
	operator  operators.Operator
	mechanism mechanisms.Config
	calibrate func() ([]byte, error) // called once for all streams, because it fits a filter
}

// NewLearner adds the operator's requirements to the configuration of the mechanism.
func NewLearner(o operators.Operator, c mechanisms.Config) (Learner, error) {
	if err := o.Require(&c, nil); err != nil {
		return Learner{}, err
	}
	return Learner{o, c, sync.OnceValues(func() ([]byte, error) {
		calibration, err := mechanisms.Calibrate(c)
		if err != nil {
			return nil, err
		}
		return calibration.AppendBinary(nil)
	})}, nil
}

// Operator returns the operator.
func (l Learner) Operator() operators.Operator { return l.operator }

// EmitAll returns the learner with an operator that publishes every decision that it computes.
func (l Learner) EmitAll() Learner {
	l.operator = operators.EmitAllOf(l.operator)
	return l
}

// Mechanism returns the mechanism's configuration, with the contribution of the operator.
func (l Learner) Mechanism() mechanisms.Config { return l.mechanism }

// Params returns the results of opening. An incarnation freezes these bytes:
//
//	length of the calibration u32 ‖ calibration of the mechanism ‖ Params of the operator
func (l Learner) Params() ([]byte, error) {
	calibration, err := l.calibrate()
	if err != nil {
		return nil, err
	}
	params, err := l.operator.Params(l.mechanism)
	if err != nil {
		return nil, err
	}
	return slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(calibration))), calibration, params), nil
}

// Deviation returns the deviation of the noise in sums of the operator's first component, for a newly opened
// deployment. It fails if the noise is not Gaussian.
func (l Learner) Deviation() (mechanisms.Deviation, error) {
	frozen, err := l.calibrate()
	if err != nil {
		return mechanisms.Deviation{}, err
	}
	calibration, err := mechanisms.ParseCalibration(frozen)
	if err != nil {
		return mechanisms.Deviation{}, err
	}
	m, err := mechanisms.NewMechanism(l.mechanism, calibration)
	if err != nil {
		return mechanisms.Deviation{}, err
	}
	return m.Open([32]byte{}).Deviation(0, 0)
}

// split returns the two parts of frozen params: the calibration, and the operator's.
func split(frozen []byte) (calibration, own []byte, err error) {
	if len(frozen) < 4 || uint64(binary.LittleEndian.Uint32(frozen)) > uint64(len(frozen)-4) {
		return nil, nil, errors.New("pipeline: frozen params: malformed")
	}
	at := 4 + int(binary.LittleEndian.Uint32(frozen))
	return frozen[4:at], frozen[at:], nil
}

// Open implements Opener: it reads the calibration, and passes the remaining bytes to the operator.
func (l Learner) Open(frozen []byte) (func(key [32]byte) (operators.Machine, error), error) {
	streams, own, err := l.mechanismOf(frozen)
	if err != nil {
		return nil, err
	}
	return func(key [32]byte) (operators.Machine, error) { return l.operator.Open(own, streams.Open(key)) }, nil
}

// mechanismOf returns the mechanism of frozen params, and the operator's part of them.
func (l Learner) mechanismOf(frozen []byte) (m *mechanisms.Mechanism, own []byte, err error) {
	frozen, own, err = split(frozen)
	if err != nil {
		return nil, nil, err
	}
	calibration, err := mechanisms.ParseCalibration(frozen)
	if err != nil {
		return nil, nil, err
	}
	c := l.mechanism
	if err := l.operator.Require(&c, own); err != nil {
		return nil, nil, err
	}
	m, err = mechanisms.NewMechanism(c, calibration)
	return m, own, err
}

// Batch returns the number of records of a step.
func (l Learner) Batch() uint64 { return l.mechanism.Batch }

// Announced returns operators.Announced for a step's number of records, as an Experimenter must.
func (l Learner) Announced() uint64 { return operators.Announced(l.Batch()) }

var errTestsNothing = errors.New("pipeline: decisions of this operator test no effect: the operator has no experiments")

// Starts returns the first steps of the experiments in a stream's frozen params.
func (l Learner) Starts(frozen []byte) ([]uint64, error) {
	tests, ok := l.operator.(operators.Testing)
	if !ok {
		return nil, errTestsNothing
	}
	_, own, err := split(frozen)
	if err != nil {
		return nil, err
	}
	return tests.Starts(own)
}

// Next returns the bytes to append to frozen params, so that the stream's next experiment starts with a step. The
// choice of the step may depend on the releases of the first `announced` steps.
func (l Learner) Next(frozen []byte, step, announced uint64) ([]byte, error) {
	tests, ok := l.operator.(operators.Testing)
	if !ok {
		return nil, errTestsNothing
	}
	_, own, err := split(frozen)
	if err != nil {
		return nil, err
	}
	return tests.Next(own, step, announced)
}

// Wider returns how many times as wide the bands of an experiment are that Next appends.
func (l Learner) Wider(frozen []byte, step, announced uint64) (float64, error) {
	tests, ok := l.operator.(operators.Testing)
	if !ok {
		return 0, errTestsNothing
	}
	streams, _, err := l.mechanismOf(frozen)
	if err != nil {
		return 0, err
	}
	law, err := streams.NoiseLaw(0)
	if err != nil {
		return 0, err
	}
	return tests.Wider(law, l.Batch(), step, announced), nil
}
