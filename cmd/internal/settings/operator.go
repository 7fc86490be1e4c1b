package settings

import (
	"maps"
	"slices"
	"strings"

	"oriel/cmd/internal/registry"
	"oriel/cmd/internal/settings/files"
	"oriel/operators"
	"oriel/operators/setting"
)

// readOperator reads the settings of the chosen operator and returns its definition. If no operator is named and none
// is needed, it returns the first operator of the table, whose events are then decoded. If the name is unknown and an
// operator is needed, it reports a problem and returns the zero Definition.
func (s *Settings) readOperator(
	p *setting.Problems, table registry.Table, given map[string]string, needs []Need,
) operators.Definition {
	steps := slices.Contains(needs, Operator)
	decodes := steps || slices.Contains(needs, Events)
	definition, _ := table.Find(s.Operator)
	if s.Operator != "" {
		p.OneOf("OPERATOR", s.Operator, table.Names()...)
	} else {
		rest := maps.Clone(given)
		if decodes && !steps {
			definition = table[0]
			given = take(rest, definition)
		}
		checkUnowned(p, table, rest)
	}
	if steps && definition.Name != "" && s.ByClock() && !definition.ByClock {
		p.Break("STEP", "set, but ORIEL_OPERATOR=%s learns from a number of events in each step; set ORIEL_BATCH in its place", s.Operator)
	}
	source := setting.Source{
		Given: given, ReadFile: files.Read,
		Common: setting.Common{
			Mechanism: s.Mechanism, Batch: s.Batch, Step: s.Clock().Length, Offset: s.PeriodOffset(),
			Rounds: s.StreamRounds(), Terms: s.Terms(),
			Norm: s.FeaturesNorm,
		},
	}
	s.values = source.Read(p, definition.Settings, func(v setting.Row) bool { return steps || decodes && v.Decodes })
	if steps && definition.Values != nil {
		if values := definition.Values(s.values); values > 0 {
			s.CountValues(p, given, values)
			s.values.Terms = s.Terms()
		}
	}
	return definition
}

// checkUnowned refuses values of operators' settings if no operator is named and none of the operators that have the
// setting takes the value.
func checkUnowned(p *setting.Problems, table registry.Table, given map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		var refused []error
		owners := table.Owners(strings.TrimPrefix(name, prefix))
		for _, owner := range owners {
			definition, _ := table.Find(owner)
			row := setting.Of(definition.Settings, strings.TrimPrefix(name, prefix))
			one := &setting.Problems{}
			setting.Source{Given: given}.Read(one, []setting.Row{row}, func(setting.Row) bool { return false })
			if err := one.Err(); err != nil {
				refused = append(refused, err)
			}
		}
		if len(owners) > 0 && len(refused) == len(owners) {
			p.Add(refused[0])
		}
	}
}

// take removes the values of the settings by which an operator's events are decoded, and returns them.
func take(given map[string]string, definition operators.Definition) map[string]string {
	taken := map[string]string{}
	for _, row := range definition.Settings {
		if value, set := given[prefix+row.Name]; set && row.Decodes {
			taken[prefix+row.Name] = value
			delete(given, prefix+row.Name)
		}
	}
	return taken
}

// EmitAll returns the same settings with an operator that publishes every decision that it computes. The result of
// Canonical stays the same.
func (s Settings) EmitAll() Settings {
	s.learner = s.learner.EmitAll()
	return s
}

// EmitEvery returns k if the operator publishes a decision at every k-th step, or 0 if it has no such setting.
func (s Settings) EmitEvery() uint64 {
	if !s.values.Has("EMIT_EVERY") {
		return 0
	}
	return s.values.Count("EMIT_EVERY")
}

// configure builds the parts of the operator that the groups of settings need.
func (s *Settings) configure(p *setting.Problems, definition operators.Definition, needs []Need) {
	steps := slices.Contains(needs, Operator)
	if definition.Name == "" || !steps && !slices.Contains(needs, Events) {
		return
	}
	s.events = definition.Events(s.values)
	if p.Err() == nil {
		if err := s.Decode(definition.Name, s.events); err != nil {
			p.Add(err)
		}
	}
	if !steps {
		return
	}
	if s.ByClock() && !p.Sound("STEP", "MECHANISM") { // the operator would blame its own settings
		return
	}
	s.checkKeyed(p)
	operator, err := definition.New(s.values)
	if p.Err() == nil && err == nil {
		s.learner, err = s.newLearner(operator)
	}
	if p.Err() == nil && err == nil && slices.Contains(needs, Deployment) {
		s.checkTopics(p)
	}
	if p.Err() == nil && err != nil {
		p.Add(err)
	}
}

// checkKeyed refuses user-level privacy for operators that add feedback at a later step than the feedback's event. For
// such an operator, one step could add two pieces of feedback of one user that arrived far apart.
func (s Settings) checkKeyed(p *setting.Problems) {
	p.Want("USER_ID", s.UserID == "" || !s.events.Keyed, "set, but ORIEL_OPERATOR=%s adds answers later than they come: "+
		"two answers of a user may be added closer together than they came", s.Operator)
}
