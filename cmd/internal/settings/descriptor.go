package settings

import (
	"encoding/json"

	"oriel/cmd/internal/score"
	"oriel/mechanisms"
	"oriel/operators"
)

// Descriptor returns the descriptor that the deployment publishes. It has the operator's own members and, for events
// with features, how feature vectors are made and how much noise weights have. It is nil if the deployment has nothing
// to describe.
func (s Settings) Descriptor() ([]byte, error) {
	operator := s.learner.Operator()
	if !score.Hashes(s.decoding.Body) {
		return operators.DescriptorOf(operator), nil
	}
	var deviation func(uint64) float64
	if d, err := s.learner.Deviation(); err == nil { // noise that is not Gaussian has no deviation
		// the noise of a tree changes abruptly from step to step, so all steps get its steady state
		if deviation = d.At; s.facts().Structure == mechanisms.Tree {
			deviation = func(uint64) float64 { return d.SteadyState() }
		}
	}
	d, err := score.Describe(operator, s.decoding, deviation, s.Batch)
	if err != nil {
		return nil, err
	}
	if d.Map, err = s.Document(); err != nil {
		return nil, err
	}
	return json.Marshal(d)
}
