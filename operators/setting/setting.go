package setting

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/schemas/text"
)

// Prefix starts the name of every environment variable that Oriel reads.
const Prefix = "ORIEL_"

// Kind is the type of a setting's value, which decides how its text is read.
type Kind uint8

// These are the kinds of settings.
const (
	Text   Kind = iota + 1 // the text itself; one of Choices, if there are any
	Number                 // a floating-point number
	Count                  // an integer, 0 or more
	Flag                   // the text true or false
	List                   // entries separated by commas
	// File is the name of a file whose lines are the entries. Empty lines and lines that start with # are skipped.
	File
)

// Row is one variable of an operator, and its row in the settings table. Its name and the meaning of a value must
// never change, because both help to identify a deployment.
type Row struct {
	Name     string // without Prefix; another operator may have a setting of the same name
	Kind     Kind
	Unit     string
	Bounds   Bounds // of a Number or Count
	Range    string // the allowed values in words; empty: Bounds or Choices
	Default  string
	Text     string
	Required bool     // there is no default
	Decodes  bool     // operators.Definition.Events may read it
	Choices  []string // allowed values of a Text

	// Form reports whether a Text has the form that Range describes. If it is nil, any text has it.
	Form func(text string) bool

	// Entry returns an entry of a List or File in the canonical form that is hashed and returned. It returns false if
	// the entry breaks the rule in Range. If Entry is nil, entries stay unchanged.
	Entry func(text string) (canonical string, ok bool)
}

// Of returns the row of a name in a table, which must have it.
func Of(table []Row, name string) Row {
	return table[slices.IndexFunc(table, func(s Row) bool { return s.Name == name })]
}

// Limits returns the allowed values in words: Range, or else the bounds or the choices.
func (s Row) Limits() string {
	if s.Range == "" {
		return s.Bounds.String() + strings.Join(s.Choices, ", ")
	}
	return s.Range
}

// Initial returns the default as tables show it.
func (s Row) Initial() string {
	if s.Required {
		return "required"
	}
	return s.Default
}

func (k Kind) String() string {
	return [...]string{
		"", "text", "a number", "a whole number", "true or false", "entries with commas between them", "a file",
	}[k]
}

// EmitEvery returns the definition of the setting EMIT_EVERY, the number of steps between decisions. `oriel plan` and
// `oriel run` read it for any operator.
func EmitEvery(byDefault, text string) Row {
	return Row{
		Name: "EMIT_EVERY", Kind: Count, Unit: "steps", Bounds: From(1, 1<<31), Default: byDefault, Text: text,
	}
}

// MaxDimension keeps decisions within the 8 MiB that the decision topic accepts for a record. A decision has about 24
// bytes for each coordinate.
const MaxDimension = 1 << 18

// Dimension returns the definition of the setting DIMENSION, which Values.Dimension reads.
func Dimension(text string) Row {
	return Row{
		Name: "DIMENSION", Kind: Count, Unit: "coordinates",
		Bounds: From(1, MaxDimension), Required: true, Decodes: true, Text: text,
	}
}

// ShortName is a Row.Entry that accepts names of at most 64 bytes without control characters.
func ShortName(text string) (canonical string, ok bool) {
	return text, len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' })
}

// Problems collects all problems of the settings, each prefixed with the name of its variable. The zero value has none.
type Problems struct {
	broken   map[string]bool
	reported map[string]bool
	errs     []error
}

// Break reports a value that is missing or cannot be read. Later problems of the same variable are dropped, because
// they would concern a value that the user did not mean.
func (p *Problems) Break(name, format string, args ...any) {
	p.Want(name, false, format, args...)
	if p.broken == nil {
		p.broken = map[string]bool{}
	}
	p.broken[name] = true
}

// errNoFlag is the problem of a value that is neither true nor false.
var errNoFlag = errors.New("not true or false")

// Malformed reports a value that cannot be read. The message shows the value, because settings are public and secrets
// are kept in files.
func (p *Problems) Malformed(name, value string, problem error, unit string) {
	s, hint := problem.Error(), ""
	if unit != "bool" { // for a bool, the problem already says the unit
		s += " (unit: " + unit + ")"
	}
	if point := strings.Replace(value, ",", ".", 1); point != value && unit != "bool" && len(value) < 32 {
		if _, err := text.ParseNumber(point); err == nil {
			hint = "; with a point it is " + point
		}
	}
	p.Break(name, "%s: %s%s", text.Shown([]byte(value)), s, hint)
}

// Want reports the problem described by format if ok is false.
func (p *Problems) Want(name string, ok bool, format string, args ...any) {
	if !ok && !p.broken[name] {
		if p.reported == nil {
			p.reported = map[string]bool{}
		}
		p.reported[name] = true
		p.errs = append(p.errs, fmt.Errorf("%s%s: "+format, append([]any{Prefix, name}, args...)...))
	}
}

// Sound reports whether the variables have no problem so far. A check of a value computed from others must ask it
// first, because its message would otherwise blame the wrong variable.
func (p *Problems) Sound(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return p.reported[name] })
}

// OneOf reports a problem if value is not one of values.
func (p *Problems) OneOf(name, value string, values ...string) {
	if !slices.Contains(values, value) {
		p.Break(name, "%s: not one of %s", text.Shown([]byte(value)), strings.Join(values, ", "))
	}
}

// Positive reports a problem if value is not positive and finite.
func (p *Problems) Positive(name string, value float64) {
	// This also refuses NaN.
	p.Want(name, value > 0 && !math.IsInf(value, 1), "%g: not positive and finite", value)
}

// Add reports errors whose texts already name their variables.
func (p *Problems) Add(errs ...error) { p.errs = append(p.errs, errs...) }

// Err returns all problems as one error, or nil if there are none.
func (p *Problems) Err() error { return errors.Join(p.errs...) }
