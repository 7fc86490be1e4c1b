package bubbletest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/kafka/records"
	"oriel/state"
)

// subject is a deployment and its input: the settings and events of a golden case.
type subject struct {
	name     string
	settings settings.Settings
	env      map[string]string // settings of the operator, and of the deployment
	records  []records.Record
	frozen   state.Schemas // frozen schemas of the registry that the settings name
}

// subjects returns subjects of every operator. Operators that answer contexts appear twice: one that chooses actions
// itself, and one that learns from the actions of others.
func subjects(t *testing.T) (all []subject) {
	t.Helper()
	for _, name := range []string{
		"logistic tree-gaussian", "aggregate-memory blt", "squared-ridge blt", "squared-innovation blt",
		"plays-ucb once-gamma", "plays-doubling blt", "contexts-served blt", "contexts-logged tree-gaussian",
		"sets-places blt", "gains-argmax tree-gaussian", "gains-drawn draws", "gains-shares blt",
		"worths-halving once-gamma", "worths-drawn draws",
	} {
		all = append(all, subjectOf(t, name))
	}
	for _, c := range decisiontest.Cases(t) {
		name := c.Settings.Operator
		if !slices.ContainsFunc(all, func(s subject) bool { return s.settings.Operator == name }) {
			t.Errorf("no subject of operator %s", name)
		}
	}
	return all
}

func subjectOf(t *testing.T, name string) subject {
	t.Helper()
	events, mechanism, _ := strings.Cut(name, " ")
	for _, g := range decisiontest.Inputs {
		if g.Name != events {
			continue
		}
		s := subjectWith(t, name, decisiontest.Env(mechanism, g.Env))
		s.records = recordsOf(t, decisiontest.Case{Events: events})
		return s
	}
	t.Fatalf("%s: no golden case", name)
	return subject{}
}

// subjectWith returns a subject without records, from settings in the form of decisiontest.Env.
func subjectWith(t *testing.T, name string, lines []string) subject {
	t.Helper()
	s := subject{name: name, settings: decisiontest.Load(t, lines...), env: map[string]string{}}
	for _, line := range lines {
		setting, value, _ := strings.Cut(line, "=")
		s.env["ORIEL_"+setting] = value
	}
	return s
}

// recordsOf returns the events of a case, with their keys if they have any.
func recordsOf(t *testing.T, c decisiontest.Case) (list []records.Record) {
	t.Helper()
	for line := range bytes.Lines(decisiontest.Lines(t, c.Events)) {
		var r records.Record
		r.Value = bytes.TrimSuffix(line, []byte("\n"))
		if c.Plays() {
			r.Key, r.Value, _ = bytes.Cut(r.Value, []byte("|"))
		}
		list = append(list, r)
	}
	return list
}

// further returns the decision topics besides the one that all operators have.
func (s subject) further(t *testing.T) []string {
	t.Helper()
	if output := operators.SecondTopicOf(decisiontest.Model(t, s.settings).Learner.Operator()); output != nil {
		return []string{output.Suffix}
	}
	return nil
}
