package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oriel/cmd/internal/registry"
	"oriel/operators"
)

// readOperator reads the settings of the chosen operator and returns its definition. If no operator is named and none
// is needed, it returns the first operator of the table, whose events are then decoded. If the name is unknown and an
// operator is needed, it reports a problem and returns the zero Definition.
func (s *Settings) readOperator(
	p *operators.Problems, table registry.Table, given map[string]string, needs []Need,
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
	source := operators.Source{
		Given: given, ReadFile: readFile,
		Common: operators.Common{
			Mechanism: s.Mechanism, Batch: s.Batch, Rounds: s.rounds(), Terms: s.Terms(),
			Norm: s.FeaturesNorm,
		},
	}
	s.values = source.Read(p, definition.Settings, func(v operators.Setting) bool { return steps || decodes && v.Decodes })
	return definition
}

// checkUnowned refuses values of operators' settings if no operator is named and none of the operators that have the
// setting takes the value.
func checkUnowned(p *operators.Problems, table registry.Table, given map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		var refused []error
		owners := table.Owners(strings.TrimPrefix(name, prefix))
		for _, owner := range owners {
			definition, _ := table.Find(owner)
			row := operators.SettingOf(definition.Settings, strings.TrimPrefix(name, prefix))
			one := &operators.Problems{}
			operators.Source{Given: given}.Read(one, []operators.Setting{row}, func(operators.Setting) bool { return false })
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
func (s *Settings) configure(p *operators.Problems, definition operators.Definition, needs []Need) {
	steps := slices.Contains(needs, Operator)
	if definition.Name == "" || !steps && !slices.Contains(needs, Events) {
		return
	}
	s.events, s.eventsOf = definition.Events(s.values), definition.Name
	var err error
	if p.Err() == nil {
		if s.decoding, err = s.newDecoding(); err != nil {
			p.Add(err)
		}
	}
	if !steps {
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

// mostFile is the largest size of a file that a setting may name, bytes.
const mostFile = 64 << 20

// readFile reads a file that a setting names.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(name) {
		err = fmt.Errorf("%w; the path is from the folder that oriel runs in", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var content bytes.Buffer
	if n, err := io.Copy(&content, io.LimitReader(f, mostFile+1)); err != nil || n > mostFile {
		if err == nil {
			err = fmt.Errorf("%s: longer than %d bytes", name, mostFile)
		}
		return nil, err
	}
	return content.Bytes(), nil
}
