package settings

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"oriel/cmd/internal/score"
	"oriel/operators"
	"oriel/state"
)

// mostText is the largest list or mapping whose text a deployment stores, bytes. A larger one is stored as a digest
// alone.
const mostText = 16 << 10

// texts returns the lists and the mapping, which Canonical has as digests, so that a difference can be shown.
func (s Settings) texts() (texts string) {
	lists := s.values.Lists()
	if text := s.MapText(); text != "" {
		lists["MAP"] = text
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if len(lists[name]) <= mostText {
			texts = state.AppendText(texts, name, lists[name])
		}
	}
	return texts
}

// Canonical returns the configuration text: sorted lines NAME=value of every setting that decides bytes. These are the
// settings that all operators share (row.frozen) and the settings of the chosen operator.
func (s Settings) Canonical() string {
	lines := s.values.Canonical()
	for _, r := range s.rows() {
		if line := r.line(); line != "" {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// Descriptor returns the descriptor that the deployment publishes. It has the operator's own members and, for events
// with features, how feature vectors are made and how much noise weights have. It is nil if the deployment has nothing
// to describe.
func (s Settings) Descriptor() ([]byte, error) {
	operator := s.learner.Operator()
	if !score.Hashes(s.EventConfig().Body) {
		return operators.DescriptorOf(operator), nil
	}
	var deviation func(uint64) float64
	if d, err := s.learner.Deviation(); err == nil { // noise that is not Gaussian has no deviation
		// the noise of a tree changes abruptly from step to step, so all steps get its steady state
		if deviation = d.At; s.Facts().AtNodes() {
			deviation = func(uint64) float64 { return d.SteadyState() }
		}
	}
	d, err := score.Describe(operator, s.EventConfig(), deviation, s.Batch)
	if err != nil {
		return nil, err
	}
	if d.Map, err = s.Document(); err != nil {
		return nil, err
	}
	return json.Marshal(d)
}
