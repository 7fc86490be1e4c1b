package operators

import (
	"slices"
	"strings"
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

// Setting is one variable of an operator, and its row in the settings table. Its name and the meaning of a value must
// never change, because both help to identify a deployment.
type Setting struct {
	Name     string // without Prefix; another operator may have a setting of the same name
	Kind     Kind
	Unit     string
	Bounds   Bounds // of a Number or Count
	Range    string // the allowed values in words; empty: Bounds or Choices
	Default  string // must never change, unless Before holds the earlier value
	Text     string
	Required bool     // there is no default
	Decodes  bool     // Definition.Events may read it
	Choices  []string // allowed values of a Text

	// Form reports whether a Text has the form that Range describes. If it is nil, any text has it.
	Form func(text string) bool

	// Entry returns an entry of a List or File in the canonical form that is hashed and returned. It returns false if
	// the entry breaks the rule in Range. If Entry is nil, entries stay unchanged.
	Entry func(text string) (canonical string, ok bool)

	// Before is the default of earlier versions in canonical form, if a later version changed it. The canonical
	// configuration contains it in place of Default, so that the configuration of a deployment does not change. The
	// operator must freeze the value in its Params, and must use Before under Params from before the change.
	Before string

	// Later marks a setting that was added after the operator's first version. The canonical configuration omits it
	// while it has its default, so that adding it changed no deployment.
	Later bool
}

// SettingOf returns the setting of a name in a table, which must have it.
func SettingOf(table []Setting, name string) Setting {
	return table[slices.IndexFunc(table, func(s Setting) bool { return s.Name == name })]
}

// Limits returns the allowed values in words: Range, or else the bounds or the choices.
func (s Setting) Limits() string {
	if s.Range == "" {
		return s.Bounds.String() + strings.Join(s.Choices, ", ")
	}
	return s.Range
}

// Initial returns the default as tables show it.
func (s Setting) Initial() string {
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
// `oriel run` read it for any operator, by Values.EmitEvery.
func EmitEvery(byDefault, text string) Setting {
	return Setting{
		Name: "EMIT_EVERY", Kind: Count, Unit: "steps", Bounds: From(1, 1<<31), Default: byDefault, Text: text,
	}
}

// Dimension returns the definition of the setting DIMENSION, which Values.Dimension reads.
func Dimension(text string) Setting {
	return Setting{
		Name: "DIMENSION", Kind: Count, Unit: "coordinates",
		Bounds: From(1, MaxDimension), Required: true, Decodes: true, Text: text,
	}
}

// ShortName is a Setting.Entry that accepts names of at most 64 bytes without control characters.
func ShortName(text string) (canonical string, ok bool) {
	return text, len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' })
}
