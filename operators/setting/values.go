package setting

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oriel/mechanisms/protection"
	"oriel/schemas/text"
)

// Values are an operator's settings as the user gave them, read by kind. Its methods panic for a setting that is not in
// the table, or that has another kind, because this is a bug in the operator.
type Values struct {
	*Problems
	Common

	table  []Row
	values map[string]value
}

// Common holds the values of the settings that every operator has.
type Common struct {
	Mechanism string           // name of the mechanism, not checked yet
	Batch     uint64           // B, the number of records in a step; 0 by the clock
	Step      int64            // length of a step by the clock, seconds; 0 by count
	Offset    int64            // offset of the boundaries of users' periods from multiples of their length, seconds
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
	return slices.ContainsFunc(v.table, func(s Row) bool { return s.Name == name })
}

// Source supplies the texts of settings.
type Source struct {
	Given    map[string]string // texts of the settings that are set, by variable name with Prefix
	ReadFile func(name string) ([]byte, error)
	Common   Common
}

// Read reads those settings of a table that have a text, and reports to p each text that is not a value of its setting,
// whether the setting is needed or not. For settings that are needed, it also reports a missing text, and reads files.
// Files are read only here.
func (s Source) Read(p *Problems, table []Row, need func(Row) bool) *Values {
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
func (s Source) parse(p *Problems, setting Row, written string, needed bool) value {
	v := value{text: written}
	var err error
	switch setting.Kind {
	case Text:
		switch {
		case setting.Choices != nil:
			p.OneOf(setting.Name, written, setting.Choices...)
		case setting.Form != nil && !setting.Form(written):
			p.Break(setting.Name, "%s: not %s (%s)", text.Shown([]byte(written)), setting.Unit, setting.Range)
		}
		if !p.Sound(setting.Name) {
			v.text = ""
		}
	case Number:
		if v.number, err = text.ParseNumber(written); err == nil {
			v.number = within(p, setting, v.number)
		}
	case Count:
		if v.count, err = text.ParseCount(written); err == nil {
			v.count = within(p, setting, v.count)
		}
	case Flag:
		if v.flag, err = strconv.ParseBool(written); err != nil {
			err = errNoFlag
		}
	case List:
		v.entries = entries(p, setting, strings.Split(written, ","), "entry")
	case File:
		if !needed {
			break
		}
		content, err := s.ReadFile(written)
		if err != nil {
			p.Break(setting.Name, "%w", err)
			return v
		}
		v.entries = entries(p, setting, strings.Split(string(content), "\n"), written+": line")
		if v.entries == nil && p.Sound(setting.Name) {
			p.Break(setting.Name, "%s: no line of the file has an entry", written)
		}
	}
	if err != nil {
		p.Malformed(setting.Name, written, err, setting.Unit)
	}
	return v
}

// within returns a number if it is within the bounds of its setting. Otherwise it reports the number and returns 0, as
// if the setting were not set. Later problems of the setting are dropped.
func within[T float64 | uint64](p *Problems, s Row, x T) T {
	if s.Bounds.Allow(float64(x)) {
		return x
	}
	p.Break(s.Name, "%v: out of range (%s)", x, s.Limits())
	return 0
}

// entries converts each piece to its canonical form. It reports a piece of a file that breaks the rule by its position
// and without its text, because files may be private.
func entries(p *Problems, setting Row, texts []string, place string) []string {
	var list []string
	for i, s := range texts {
		s = strings.TrimSpace(s)
		if setting.Kind == File && (s == "" || strings.HasPrefix(s, "#")) {
			continue
		}
		original, ok := s, s != "" && !strings.ContainsRune(s, '\n')
		if ok && setting.Entry != nil {
			s, ok = setting.Entry(s)
		}
		switch {
		case !ok && setting.Kind == List:
			p.Break(setting.Name, "%s %d: %s: not %s", place, i+1, text.Shown([]byte(original)), setting.Limits())
			return nil
		case !ok:
			p.Break(setting.Name, "%s %d: not %s", place, i+1, setting.Limits())
			return nil
		}
		list = append(list, s)
	}
	return list
}

// get returns the value of a setting, which must be of one of the given kinds.
func (v *Values) get(name string, kind ...Kind) value {
	i := slices.IndexFunc(v.table, func(s Row) bool { return s.Name == name && slices.Contains(kind, s.Kind) })
	if i < 0 {
		panic(fmt.Sprintf("BUG: setting: no setting %s of kind %v", name, kind))
	}
	return v.values[name]
}

// Text returns the value of a setting of kind Text, or "" if the text was wrong.
func (v *Values) Text(name string) string { return v.get(name, Text).text }

// Number returns the value of a setting of kind Number.
func (v *Values) Number(name string) float64 { return v.get(name, Number).number }

// Count returns the value of a setting of kind Count.
func (v *Values) Count(name string) uint64 { return v.get(name, Count).count }

// Dimension returns the value of the setting DIMENSION, at most MaxDimension.
func (v *Values) Dimension() int { return int(min(v.Count("DIMENSION"), MaxDimension)) }

// Flag returns the value of a setting of kind Flag.
func (v *Values) Flag(name string) bool { return v.get(name, Flag).flag }

// Entries returns the entries of a setting of kind List or File, in their order and canonical form.
func (v *Values) Entries(name string) []string { return v.get(name, List, File).entries }

// Distinct reports a problem if a name occurs twice in the list.
func (v *Values) Distinct(name string, list []string) {
	sorted := slices.Sorted(slices.Values(list))
	v.Want(name, len(slices.Compact(sorted)) == len(list), "a name is given twice")
}

// Canonical returns the lines NAME=value of all settings, in the order of the table. These lines identify a deployment.
// A list or file appears as a hash of its entries.
func (v *Values) Canonical() []string {
	lines := make([]string, 0, len(v.table))
	for _, s := range v.table {
		lines = append(lines, s.Name+"="+v.values[s.Name].canonical(s.Kind))
	}
	return lines
}

// Lists returns the settings of kind List whose canonical line is a digest: the text that is hashed, by name. Lists are
// public, like all settings. The contents of files may not be.
func (v *Values) Lists() map[string]string {
	lists := map[string]string{}
	for _, s := range v.table {
		if entries := v.values[s.Name].entries; s.Kind == List && entries != nil {
			lists[s.Name] = strings.Join(entries, "\n")
		}
	}
	return lists
}

func (x value) canonical(k Kind) string {
	switch k {
	case Number:
		return Decimal(x.number)
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
