package optest

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/operators"
)

// sum is the least machine: a step is two records, the decision the sum of their weighted values so far.
type sum struct {
	count   uint64
	total   [1]float64
	release [1]float64
}

func (m *sum) Open(dst []operators.Decision) []operators.Decision { return dst }

func (m *sum) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	v := r.Event.Vector
	if !r.Null && len(v.Values) == 1 && v.Indices == nil && v.Values[0] == v.Values[0] && r.Event.Weight >= 0 {
		m.total[0] += float64(r.Event.Weight * v.Values[0])
	}
	m.count++
	if m.count%2 == 1 {
		return dst
	}
	m.release = m.total
	return append(dst, operators.Decision{Index: m.Steps(), Step: m.Steps(), Point: m.release[:]})
}

func (m *sum) Steps() uint64 { return m.count / 2 }

func (m *sum) StateLen() int { return 17 }

func (m *sum) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, 1), m.count)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(m.total[0]))
}

func (m *sum) Restore(state []byte) error {
	if len(state) != m.StateLen() || state[0] != 1 {
		return errors.New("sum: state: no state of version 1")
	}
	total := math.Float64frombits(binary.LittleEndian.Uint64(state[9:]))
	if total != total {
		return errors.New("sum: state: not a number")
	}
	m.count, m.total[0] = binary.LittleEndian.Uint64(state[1:]), total
	return nil
}

func (m *sum) Guarantee() dp.Guarantee { return dp.Guarantee{} }

func TestLeastMachinePasses(t *testing.T) {
	events := make([]operators.Event, 25)
	for i := range events {
		events[i] = operators.Event{Vector: operators.Vector{Values: []float64{float64(i) - 7}}, Weight: 1}
	}
	Run(t, func(testing.TB) operators.Machine { return &sum{} }, events)
}
