package pipeline

import (
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/schemas/decision"
)

// testOperator is an operator with or without a second topic.
type testOperator struct {
	operators.Operator
	output *operators.Output
}

func (o testOperator) Extras() []decision.Extra { return nil }

func (o testOperator) SecondTopic() *operators.Output { return o.output }

// testLearner opens machines that make one decision in each topic for each record.
type testLearner struct{ operator operators.Operator }

func (l testLearner) Operator() operators.Operator { return l.operator }

func (testLearner) Params() ([]byte, error) { return nil, nil }

func (testLearner) Open([]byte) (func([32]byte) (operators.Machine, error), error) {
	return func([32]byte) (operators.Machine, error) { return new(testMachine), nil }, nil
}

type testMachine struct{ steps uint64 }

func (m *testMachine) Open(dst []operators.Decision) []operators.Decision { return dst }

func (m *testMachine) Add(operators.Record) {}

func (m *testMachine) Close(dst []operators.Decision) []operators.Decision {
	m.steps++
	return append(dst,
		operators.Decision{Index: 2*m.steps - 1, Step: m.steps, Point: []float64{float64(m.steps)}},
		operators.Decision{Index: 2 * m.steps, Step: m.steps, Point: []float64{float64(m.steps)}, Output: 1})
}

func (m *testMachine) Steps() uint64 { return m.steps }

func (m *testMachine) Due(step uint64) (first uint64, count int) { return 2*step - 1, 2 }

func (m *testMachine) AppendState(dst []byte) []byte { return dst }

func (m *testMachine) StateLen() int { return 0 }

func (m *testMachine) Restore([]byte) error { return nil }

func (m *testMachine) Guarantee() protection.Guarantee {
	return protection.Guarantee{
		Terms: protection.Terms{
			Scope: protection.Window{Steps: 4}, Unit: protection.Event{Exchange: dp.Replace},
		},
		Mechanism: "none", Batch: 1, Epsilon: 1,
	}
}
