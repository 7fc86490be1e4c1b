package streams

import (
	"bytes"
	"fmt"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/schemas/decision"
)

// fakeOperator has the topics and members that a test sets, and nothing else.
type fakeOperator struct {
	operators.Operator
	extras []decision.Extra
	output *operators.Output
}

func (o fakeOperator) Extras() []decision.Extra { return o.extras }

func (o fakeOperator) SecondTopic() *operators.Output { return o.output }

// fakeLearner opens one machine.
type fakeLearner struct {
	operator operators.Operator
	machine  operators.Machine
}

func (l fakeLearner) Operator() operators.Operator { return l.operator }

func (fakeLearner) Params() ([]byte, error) { return nil, nil }

func (l fakeLearner) Open([]byte) (func([32]byte) (operators.Machine, error), error) {
	return func([32]byte) (operators.Machine, error) { return l.machine, nil }, nil
}

// namedOperator freezes a name. It opens no machine, and records the params that it was given.
type namedOperator struct {
	operators.Operator
	required, opened *[]string
}

func (o namedOperator) Require(c *mechanisms.Config, params []byte) error {
	*o.required = append(*o.required, string(params))
	c.Contribution = contribution.OneComponent(2, 1)
	return nil
}

func (namedOperator) Params(mechanisms.Config) ([]byte, error) { return []byte("own"), nil }

func (o namedOperator) Open(params []byte, stream *mechanisms.Stream) (operators.Machine, error) {
	*o.opened = append(*o.opened, string(params))
	return named{&operators.Base{Stream: stream}}, nil
}

// named is a machine without decisions.
type named struct{ *operators.Base }

func (named) Add(operators.Record) {}

func (named) Close(dst []operators.Decision) []operators.Decision { return dst }

// frozenParams are the params of a learner whose operator records what Required and Open get.
func frozenParams(t *testing.T, required, opened *[]string) (Learner, []byte) {
	t.Helper()
	c := mechtest.Config(2)
	c.Contribution = contribution.Contribution{}
	l, err := NewLearner(namedOperator{required: required, opened: opened}, c)
	if err != nil {
		t.Fatal(err)
	}
	frozen, err := l.Params()
	if err != nil {
		t.Fatal(err)
	}
	return l, frozen
}

// TestALearnerOpensItsFrozenParams checks that the operator finds its own params in those of its learner, and that
// other bytes are refused.
func TestALearnerOpensItsFrozenParams(t *testing.T) {
	var required, opened []string
	l, frozen := frozenParams(t, &required, &opened)
	if again, err := l.Params(); err != nil || !bytes.Equal(again, frozen) {
		t.Errorf("other params the second time: %v", err)
	}
	open, err := l.Open(frozen)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := open([32]byte{1})
	if err != nil || machine.Guarantee().Terms != l.Mechanism().Terms {
		t.Errorf("%+v, %v", machine, err)
	}
	if got := fmt.Sprint(required, opened); got != "[ own] [own]" {
		t.Errorf("the operator was given %s", got)
	}
	for _, broken := range [][]byte{nil, frozen[:3], frozen[:8], append([]byte{255, 255, 255, 255}, frozen[4:]...)} {
		if _, err := l.Open(broken); err == nil {
			t.Errorf("%d bytes are opened", len(broken))
		}
	}
}
