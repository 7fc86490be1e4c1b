package pipeline

import (
	"testing"

	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/pipeline/streams"
)

// TestConfigFitsItsOperator checks that a configuration must fit its operator. The second topic of decisions has other
// readers than the first, so it must be configured exactly if the operator has one.
func TestConfigFitsItsOperator(t *testing.T) {
	var first, second deployment.Config
	second.Second = "late.plays"
	plain := streams.Model{Learner: testLearner{operator: testOperator{}}}
	output := streams.Model{Learner: testLearner{operator: testOperator{output: &operators.Output{Suffix: "plays"}}}}
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
	} {
		if err := fits(c.config, c.model); (err == nil) != c.fits {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
