package settings

import (
	"fmt"
	"reflect"
	"strings"

	"oriel/cmd/internal/registry"
	"oriel/operators"
)

// Variable is a row of the settings table.
type Variable struct {
	Name, Unit, Range, Default, Text string
	// group that requires the setting; empty: the setting is optional or has a default
	Need     Need
	Operator string // operator that reads the setting; empty: all operators
}

// Group is a part of the settings table: the settings of all operators, or of one operator.
type Group struct {
	Operator, Text string // empty Operator: all operators
	Variables      []Variable
}

// Groups lists every setting: those of all operators first, then operator by operator.
func Groups() []Group { return groups(registry.All) }

func groups(table registry.Table) []Group {
	all := []Group{{Variables: common()}}
	for i := range all[0].Variables {
		if v := &all[0].Variables[i]; v.Name == prefix+"OPERATOR" {
			v.Range = strings.Join(table.Names(), ", ")
		}
	}
	for _, definition := range table {
		g := Group{Operator: definition.Name, Text: definition.Text}
		for _, s := range definition.Settings {
			if len(s.Choices) == 1 { // the setting has only one possible value
				continue
			}
			g.Variables = append(g.Variables, ownVariable(definition.Name, s))
		}
		all = append(all, g)
	}
	return all
}

// common lists the settings that every operator has, in the order of the struct.
func common() []Variable {
	t := reflect.TypeFor[Settings]()
	var rows []Variable
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			rows = append(rows, Variable{
				Name: prefix + f.Tag.Get("env"), Unit: f.Tag.Get("unit"), Range: f.Tag.Get("range"),
				Default: f.Tag.Get("envDefault"), Text: f.Tag.Get("text"), Need: Need(f.Tag.Get("need")),
			})
		}
	}
	return rows
}

func ownVariable(operator string, s operators.Setting) Variable {
	v := Variable{
		Name: prefix + s.Name, Unit: s.Unit, Range: s.Limits(), Default: s.Default, Text: s.Text, Operator: operator,
	}
	switch {
	case s.Required && s.Decodes:
		v.Need = Events
	case s.Required:
		v.Need = Operator
	}
	return v
}

// Title returns the group's heading. It is empty for the settings of all operators.
func (g Group) Title() string {
	if g.Operator == "" {
		return ""
	}
	return fmt.Sprintf("%sOPERATOR=%s: %s", prefix, g.Operator, g.Text)
}

// Initial returns the default as the table shows it.
func (v Variable) Initial() string {
	if v.Need != "" {
		return "required"
	}
	return v.Default
}
