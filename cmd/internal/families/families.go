package families

import (
	"slices"

	"oriel/operators"
	"oriel/operators/aggregate"
	"oriel/operators/arms"
	"oriel/operators/bandit"
	"oriel/operators/coco"
	"oriel/operators/linucb"
	"oriel/operators/ridge"
	"oriel/operators/sets"
	"oriel/operators/submodular"
)

// All has a row an operator. The first decodes events where no operator is named.
var All = Table{
	coco.Family,
	aggregate.Family,
	ridge.Family,
	arms.Family,
	bandit.Family,
	linucb.Family,
	submodular.Family,
	sets.Family,
}

// Table is a list of operators, in the order in which people read of them.
type Table []operators.Family

// Names lists what ORIEL_OPERATOR takes.
func (t Table) Names() []string {
	names := make([]string, len(t))
	for i, f := range t {
		names[i] = f.Name
	}
	return names
}

// Find returns the operator of a name, or false.
func (t Table) Find(name string) (operators.Family, bool) {
	i := slices.IndexFunc(t, func(f operators.Family) bool { return f.Name == name })
	if i < 0 {
		return operators.Family{}, false
	}
	return t[i], true
}

// Owners lists the operators that have a setting of the name, without ORIEL_.
func (t Table) Owners(setting string) []string {
	var names []string
	for _, f := range t {
		if slices.ContainsFunc(f.Settings, func(s operators.Setting) bool { return s.Name == setting }) {
			names = append(names, f.Name)
		}
	}
	return names
}
