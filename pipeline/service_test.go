package pipeline

import (
	"testing"

	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/pipeline/streams"
)

// TestConfigFitsItsOperator: decisions of a second topic are for others than those of the first, and a stream that
// cannot go on from a decision must not be told to.
func TestConfigFitsItsOperator(t *testing.T) {
	var first, second, after deployment.Config
	second.Second, after.Predecessor = "late.plays", deployment.Predecessor{Name: "old"}
	plain := streams.Model{Learner: testLearner{operator: testOperator{}}}
	output := streams.Model{Learner: testLearner{operator: testOperator{output: &operators.Output{Suffix: "plays"}}}}
	successor := streams.Model{Learner: testLearner{operator: testSuccessor{}}}
	for _, c := range []struct {
		name   string
		config deployment.Config
		model  streams.Model
		fits   bool
	}{
		{"one topic", first, plain, true},
		{"two topics", second, output, true},
		{"a topic for nobody", second, plain, false},
		{"no topic for the second output", first, output, false},
		{"after another life", after, successor, true},
		{"after another life, from nothing", after, plain, false},
	} {
		if err := fits(c.config, c.model); (err == nil) != c.fits {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
