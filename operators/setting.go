package operators

import "strings"

// Prefix starts the name of every environment variable of ours.
const Prefix = "ORIEL_"

// Kind says how the text of a setting is read.
type Kind uint8

// The kinds.
const (
	Text   Kind = iota + 1 // as it stands; one of Choices, where there are any
	Number                 // a float64
	Count                  // a whole number, 0 or more
	Flag                   // true or false
	List                   // entries with commas between them
	// the name of a file, whose lines are the entries; empty lines and those that start with # are left out
	File
)

// Setting is one variable of an operator, and its row in the settings table. Its name, and the meaning of a value,
// stay: both are part of what identifies a deployment.
type Setting struct {
	Name     string // without Prefix; other operators may have one of the same name
	Kind     Kind
	Unit     string
	Range    string // for people; empty: Choices
	Default  string // never changes, but with Before
	Text     string
	Required bool     // no default: it must be set
	Decodes  bool     // of Definition.Events, which sees no others
	Choices  []string // of Text

	// Papers are further choices of Text, which Definition.ForPapers has and services refuse by name: what a paper prints,
	// to be compared with. Earlier versions had them among Choices.
	Papers []string

	// Entry brings an entry of a List or File to the form that is hashed and handed out, or says that it breaks the
	// rule in Range. Where it is nil, entries stay as they stand.
	Entry func(text string) (canonical string, ok bool)

	// Before is the default of earlier versions in canonical form, where a later version chose another. The canonical
	// configuration has it in place of Default, so that a deployment keeps its configuration. The operator must freeze
	// the value in its Params, and take Before under Params that are older than that.
	Before string

	// Later marks a setting that came after the operator's first version. It has no line in the canonical configuration
	// while it is at its default, so that its arrival changed no deployment.
	Later bool
}

// Limits is Range, or the choices.
func (s Setting) Limits() string {
	if s.Range == "" {
		return strings.Join(s.Choices, ", ")
	}
	return s.Range
}

func (k Kind) String() string {
	return [...]string{
		"", "text", "a number", "a whole number", "true or false", "entries with commas between them", "a file",
	}[k]
}

// EmitEvery is the setting EMIT_EVERY, the steps from one decision to the next, which `oriel plan` and `oriel run` read
// of any operator. Values.EmitEvery reads it.
func EmitEvery(byDefault, text string) Setting {
	return Setting{
		Name: "EMIT_EVERY", Kind: Count, Unit: "steps", Range: "1 to 2^31", Default: byDefault, Text: text,
	}
}

// Dimension is the setting DIMENSION, which Values.Dimension reads.
func Dimension(text string) Setting {
	return Setting{
		Name: "DIMENSION", Kind: Count, Unit: "coordinates", Range: "1 to 262144", Required: true, Decodes: true, Text: text,
	}
}

// ShortName is an Entry: names of up to 64 bytes, none of them a control character.
func ShortName(text string) (canonical string, ok bool) {
	return text, len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' })
}
