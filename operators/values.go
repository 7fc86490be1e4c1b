package operators

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oriel/mechanisms/protection"
	"oriel/schemas"
)

// Values are an operator's settings as the user gave them, read by kind. Its methods panic for a setting that is not in
// the table, or that has another kind, because this is a bug in the operator.
type Values struct {
	*Problems
	Common

	table  []Setting
	values map[string]value
}

// Common holds the values of the settings that every operator has.
type Common struct {
	Mechanism string           // name of the mechanism, not checked yet
	Batch     uint64           // B, the number of records in a step
	Terms     protection.Terms // who is protected, and for how long; not checked yet
	Rounds    uint64           // T: ORIEL_ROUNDS, or the step after which the stream ends; 0: unknown
	Norm      string           // value of ORIEL_FEATURES_NORM, not checked yet
}

type value struct {
	text    string // the text without surrounding spaces
	number  float64
	count   uint64
	flag    bool
	entries []string
}

// Has reports whether the operator has a setting of this name.
func (v *Values) Has(name string) bool {
	return slices.ContainsFunc(v.table, func(s Setting) bool { return s.Name == name })
}

// Source supplies the texts of settings.
type Source struct {
	Given    map[string]string // texts of the settings that are set, by variable name with Prefix
	ReadFile func(name string) ([]byte, error)
	Common   Common
}

// Read reads those settings of a table that have a text, and reports malformed texts to p. For settings that are
// needed, it also reports a missing text, a text that is not one of the choices, and an entry that breaks its rule. It
// does not read lists and files of settings that are not needed. Files are read only here.
func (s Source) Read(p *Problems, table []Setting, need func(Setting) bool) *Values {
	v := &Values{Problems: p, Common: s.Common, table: table, values: make(map[string]value, len(table))}
	for _, setting := range table {
		text, needed := strings.TrimSpace(s.Given[Prefix+setting.Name]), need(setting)
		if text == "" {
			text = setting.Default
		}
		switch {
		case text == "" && setting.Required && needed:
			p.Break(setting.Name, "not set; %s", setting.Text)
		case text != "":
			v.values[setting.Name] = s.parse(p, setting, text, needed)
		}
	}
	return v
}

// parse reads the text of one setting. If the text is malformed it reports the rule that it breaks.
func (s Source) parse(p *Problems, setting Setting, text string, needed bool) value {
	v := value{text: text}
	var err error
	switch setting.Kind {
	case Text:
		switch {
		case !needed:
		case slices.Contains(setting.Papers, text):
			p.PrintedInPaper(setting.Name, text)
		case setting.Choices != nil:
			p.OneOf(setting.Name, text, setting.Choices...)
		}
	case Number:
		v.number, err = strconv.ParseFloat(text, 64)
	case Count:
		v.count, err = strconv.ParseUint(text, 10, 64)
	case Flag:
		v.flag, err = strconv.ParseBool(text)
	case List:
		if needed {
			v.entries = entries(p, setting, strings.Split(text, ","), "entry")
		}
	case File:
		if !needed {
			break
		}
		content, err := s.ReadFile(text)
		if err != nil {
			p.Break(setting.Name, "%w", err)
			return v
		}
		v.entries = entries(p, setting, strings.Split(string(content), "\n"), text+": line")
	}
	if err != nil {
		p.Malformed(setting.Name, text, setting.Kind.String(), setting.Unit)
	}
	return v
}

// entries converts each piece to its canonical form. It reports a piece of a file that breaks the rule by its position
// and without its text, because files may be private.
func entries(p *Problems, setting Setting, texts []string, place string) []string {
	var list []string
	for i, text := range texts {
		text = strings.TrimSpace(text)
		if setting.Kind == File && (text == "" || strings.HasPrefix(text, "#")) {
			continue
		}
		original, ok := text, text != "" && !strings.ContainsRune(text, '\n')
		if ok && setting.Entry != nil {
			text, ok = setting.Entry(text)
		}
		switch {
		case !ok && setting.Kind == List:
			p.Break(setting.Name, "%s %d: %s: not %s", place, i+1, schemas.Shown([]byte(original)), setting.Limits())
			return nil
		case !ok:
			p.Break(setting.Name, "%s %d: not %s", place, i+1, setting.Limits())
			return nil
		}
		list = append(list, text)
	}
	return list
}

// get returns the value of a setting, which must be of one of the given kinds.
func (v *Values) get(name string, kind ...Kind) value {
	i := slices.IndexFunc(v.table, func(s Setting) bool { return s.Name == name && slices.Contains(kind, s.Kind) })
	if i < 0 {
		panic(fmt.Sprintf("BUG: operators: no setting %s of kind %v", name, kind))
	}
	return v.values[name]
}

// Text returns the value of a setting of kind Text, or "" if the text was wrong.
func (v *Values) Text(name string) string { return v.get(name, Text).text }

// Number returns the value of a setting of kind Number.
func (v *Values) Number(name string) float64 { return v.get(name, Number).number }

// Within returns the value of a setting of kind Number, and reports a problem if it is not in the range from least to
// most.
func (v *Values) Within(name string, least, most float64) float64 {
	x := v.Number(name)
	v.Want(name, x >= least && x <= most, "%g: not from %g to %g", x, least, most)
	return x
}

// Count returns the value of a setting of kind Count.
func (v *Values) Count(name string) uint64 { return v.get(name, Count).count }

// EmitEvery returns the value of the setting EMIT_EVERY, and reports a problem if it is out of range.
func (v *Values) EmitEvery() uint64 {
	n := v.Count("EMIT_EVERY")
	v.Want("EMIT_EVERY", n >= 1 && n <= 1<<31, "%d: not within 1 to 2^31", n)
	return n
}

// Dimension returns the value of the setting DIMENSION, and reports a problem if it is not in 1 … MaxDimension.
func (v *Values) Dimension() int {
	n := v.Count("DIMENSION")
	v.Want("DIMENSION", n >= 1 && n <= MaxDimension, "%d: not within 1 to %d", n, MaxDimension)
	return int(min(n, MaxDimension))
}

// Flag returns the value of a setting of kind Flag.
func (v *Values) Flag(name string) bool { return v.get(name, Flag).flag }

// Entries returns the entries of a setting of kind List or File, in their order and canonical form.
func (v *Values) Entries(name string) []string { return v.get(name, List, File).entries }

// Distinct reports a problem if a name occurs twice in the list.
func (v *Values) Distinct(name string, list []string) {
	sorted := slices.Sorted(slices.Values(list))
	v.Want(name, len(slices.Compact(sorted)) == len(list), "a name is given twice")
}

// Canonical returns the lines NAME=value of all settings, without Later settings that have their default. These lines
// identify a deployment. A list or file appears as a hash of its entries. A default that a version has changed appears
// with its earlier value.
func (v *Values) Canonical() []string {
	var lines []string
	for _, s := range v.table {
		text := v.values[s.Name].canonical(s.Kind)
		initial := (s.Later || s.Before != "") && text == byDefault(s)
		switch {
		case initial && s.Before != "":
			lines = append(lines, s.Name+"="+s.Before)
		case !initial:
			lines = append(lines, s.Name+"="+text)
		}
	}
	return lines
}

func (x value) canonical(k Kind) string {
	switch k {
	case Number:
		return string(schemas.AppendFloat(nil, x.number))
	case Count:
		return strconv.FormatUint(x.count, 10)
	case Flag:
		return strconv.FormatBool(x.flag)
	case List, File:
		if x.entries == nil {
			return ""
		}
		digest := sha256.Sum256([]byte(strings.Join(x.entries, "\n")))
		return "sha256:" + hex.EncodeToString(digest[:])
	default:
		return x.text
	}
}

// byDefault returns the canonical form of a setting that is not set.
func byDefault(s Setting) string {
	v := Source{}.Read(&Problems{}, []Setting{s}, func(Setting) bool { return true })
	return v.values[s.Name].canonical(s.Kind)
}
