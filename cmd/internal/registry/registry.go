package registry

import (
	"slices"

	"oriel/operators"
	"oriel/operators/aggregate"
	"oriel/operators/arms"
	"oriel/operators/bandit"
	"oriel/operators/coco"
	"oriel/operators/linucb"
	"oriel/operators/names"
	"oriel/operators/ridge"
	"oriel/operators/sets"
	"oriel/operators/setting"
	"oriel/operators/submodular"
)

// All has one row for each operator. If no operator is named, the first one decodes events.
var All = Table{
	coco.Definition,
	aggregate.Definition,
	names.Definition,
	ridge.Definition,
	arms.Definition,
	bandit.Definition,
	linucb.Definition,
	submodular.Definition,
	sets.Definition,
}

// Table is a list of operators, in the order in which texts present them.
type Table []operators.Definition

// Names lists the values of ORIEL_OPERATOR.
func (t Table) Names() []string {
	names := make([]string, len(t))
	for i, f := range t {
		names[i] = f.Name
	}
	return names
}

// Find returns the operator with this name, or false.
func (t Table) Find(name string) (operators.Definition, bool) {
	i := slices.IndexFunc(t, func(f operators.Definition) bool { return f.Name == name })
	if i < 0 {
		return operators.Definition{}, false
	}
	return t[i], true
}

// Owners lists the operators that have a setting of this name, given without ORIEL_.
func (t Table) Owners(name string) []string {
	var names []string
	for _, f := range t {
		if slices.ContainsFunc(f.Settings, func(s setting.Row) bool { return s.Name == name }) {
			names = append(names, f.Name)
		}
	}
	return names
}
