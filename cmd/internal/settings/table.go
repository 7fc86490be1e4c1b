package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"oriel/cmd/internal/registry"
	"oriel/cmd/internal/settings/values"
	"oriel/operators/setting"
	"oriel/schemas/text"
)

// row is a setting that every operator has.
type row struct {
	name string // without ORIEL_
	// value points to the field of Settings. The type of the field decides how the text is read.
	value any

	unit, limits, initial, text string   // columns of the table; empty limits: choices
	choices                     []string // allowed texts; nil: wrong alone decides
	need                        Need     // the group that requires the setting; empty: it is optional or has a default
	decodes                     bool     // events are decoded by it

	// wrong says why no command can use the present value, whatever the other settings are. It counts only if the setting
	// is set.
	wrong error

	// frozen is the value in the canonical configuration; nil: the setting decides no bytes and has no line. frozenAs is
	// the name in the line; empty: name.
	frozen   any
	frozenAs string
}

// read sets the field to the value of a text.
func (r row) read(written string) (err error) {
	switch v := r.value.(type) {
	case *string:
		*v = written
	case *[]string:
		for entry := range strings.SplitSeq(written, ",") {
			*v = append(*v, strings.TrimSpace(entry))
		}
	case *bool:
		*v, err = parseFlag(written)
	case *float64:
		*v, err = text.ParseNumber(written)
	case *uint64:
		*v, err = text.ParseCount(written)
	case *int:
		*v, err = text.ParseInt(written)
	case *time.Duration:
		*v, err = values.Duration(written)
	default:
		panic(fmt.Sprintf("BUG: settings: %s has a field of type %T", r.name, r.value))
	}
	return err
}

func parseFlag(written string) (bool, error) {
	flag, err := strconv.ParseBool(written)
	if err != nil {
		err = errors.New("not true or false")
	}
	return flag, err
}

// line returns the line of the canonical configuration, or "".
func (r row) line() string {
	name := r.name
	if r.frozenAs != "" {
		name = r.frozenAs
	}
	switch v := r.frozen.(type) {
	case nil:
		return ""
	case float64:
		return name + "=" + string(text.AppendFloat(nil, v))
	default:
		return fmt.Sprintf("%s=%v", name, v)
	}
}

// orEmpty returns a value of row.frozen that is empty unless a condition holds.
func orEmpty(has bool, value any) any {
	if has {
		return value
	}
	return ""
}

// shown returns the row as operators have theirs, for the tables that users read.
func (r row) shown() setting.Row {
	return setting.Row{
		Name: r.name, Unit: r.unit, Range: r.limits, Choices: r.choices, Default: r.initial, Text: r.text,
		Required: r.need != "",
	}
}

// Group is a part of the settings table: the settings of all operators, or of one operator.
type Group struct {
	Operator, Text string // empty Operator: all operators
	Settings       []setting.Row
}

// Groups lists every setting: those of all operators first, then operator by operator.
func Groups() []Group { return groups(registry.All) }

func groups(table registry.Table) []Group {
	all := []Group{{}}
	for _, r := range new(Settings).rows() {
		if r.name == "OPERATOR" {
			r.choices = table.Names()
		}
		all[0].Settings = append(all[0].Settings, r.shown())
	}
	for _, definition := range table {
		g := Group{Operator: definition.Name, Text: definition.Text}
		for _, s := range definition.Settings {
			if len(s.Choices) != 1 { // otherwise the setting has only one possible value
				g.Settings = append(g.Settings, s)
			}
		}
		all = append(all, g)
	}
	return all
}

// Title returns the group's heading. It is empty for the settings of all operators.
func (g Group) Title() string {
	if g.Operator == "" {
		return ""
	}
	return fmt.Sprintf("%sOPERATOR=%s: %s", prefix, g.Operator, g.Text)
}
