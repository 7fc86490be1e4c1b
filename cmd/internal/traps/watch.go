package traps

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"oriel/cmd/internal/plan/decisions"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

const (
	mostEvents = 10000 // largest number of events that a Watch examines
	mostNames  = 1000  // largest number of feature names that a Watch remembers
	// largest number of different values of a feature; a name with more values is taken for an identifier
	mostTexts    = 1000
	fewestTexts  = 20  // fewest values of a feature from which the number of different values is meaningful
	fewestCodes  = 100 // smaller integers can be hours, weekdays or months, which are categories
	mostNamesSay = 5   // largest number of names in a warning
)

// Watch examines the named features of the first events of a file or topic. Its warnings contain names of features, and
// nothing else of an event.
type Watch struct {
	member string  // member that holds the features; empty: events have no features
	mapped printer // converts records of another form; nil: records have Oriel's form
	event  event.Event
	own    []byte // the record in Oriel's form
	ranged map[string]bool
	events int
	seed   maphash.Seed
	named  map[string]*feature
}

// feature counts what a Watch has seen of one feature.
type feature struct {
	beyond   bool // a number without a range is beyond ±1
	first    float64
	varies   bool // not each value is the number first
	seen     int
	texts    int
	distinct map[uint64]bool
	numbers  int // number of values that are texts with a number
	codes    int // how many of numbers are integers of at most two digits
	dates    int // number of values that are texts with a date or a time
}

// NewWatch returns a Watch of events whose named features are in the given member and have these ranges.
func NewWatch(member string, ranges []event.Range) *Watch {
	w := &Watch{member: member, ranged: map[string]bool{}, seed: maphash.MakeSeed(), named: map[string]*feature{}}
	for _, r := range ranges {
		w.ranged[r.Name] = true
	}
	return w
}

// WatchOf returns a Watch for the events of a configuration.
func WatchOf(c event.Config) *Watch {
	member := ""
	if vector, _ := c.Body.Vector(); vector.Kind == event.KindFeatures {
		member = vector.Name
	}
	w := NewWatch(member, c.Features.Ranges)
	if c.Foreign == nil {
		return w
	}
	if d, err := c.Foreign(c); err == nil {
		w.mapped, _ = d.(printer)
	}
	return w
}

// printer decodes records of another form and prints them in the operator's own form.
type printer interface {
	event.Decoder
	AppendOwn(dst []byte) []byte
}

// See examines the value of one record.
func (w *Watch) See(value []byte) {
	if w.member == "" || w.events == mostEvents {
		return
	}
	if w.mapped != nil {
		if w.mapped.Decode(&w.event, value) != text.OK {
			return
		}
		w.own = w.mapped.AppendOwn(w.own[:0])
		value = w.own
	}
	var event map[string]json.RawMessage
	var features map[string]any
	if json.Unmarshal(value, &event) != nil || json.Unmarshal(event[w.member], &features) != nil {
		return
	}
	w.events++
	for name, value := range features {
		f := w.named[name]
		if f == nil {
			if len(w.named) == mostNames {
				continue
			}
			f = &feature{distinct: map[uint64]bool{}}
			f.first, _ = value.(float64)
			w.named[name] = f
		}
		f.seen++
		f.varies = f.varies || value != any(f.first)
		switch v := value.(type) {
		case float64:
			f.beyond = f.beyond || math.Abs(v) > 1 && !w.ranged[name]
		case string:
			f.text(v, maphash.String(w.seed, v))
		}
	}
}

func (f *feature) text(v string, hash uint64) {
	f.texts++
	if len(f.distinct) <= mostTexts {
		f.distinct[hash] = true
	}
	switch {
	case isNumber(v):
		f.numbers++
		if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < fewestCodes {
			f.codes++
		}
	case isDate(v):
		f.dates++
	}
}

// fewestConstants is the smallest number of equal values from which a feature is taken for a constant.
const fewestConstants = 20

// isConstant reports whether a feature is a constant like the one that `oriel plan` advises. A constant has no range.
func (f *feature) isConstant(name string) bool {
	return !f.varies && math.Abs(f.first) <= decisions.Constant &&
		(name == decisions.ConstantName || f.seen >= fewestConstants)
}

func (f *feature) isNumbers() bool { return f.texts > 0 && f.numbers == f.texts && f.codes < f.texts }

func (f *feature) isDates() bool { return f.texts > 0 && f.dates == f.texts }

func (f *feature) isIDs() bool {
	return !f.isNumbers() && !f.isDates() && f.codes < f.texts && f.texts >= fewestTexts &&
		(len(f.distinct) > mostTexts || 2*len(f.distinct) > f.texts)
}

// isNumber reports whether a text is a number in JSON syntax.
func isNumber(v string) bool {
	f, err := strconv.ParseFloat(v, 64)
	return err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) && json.Valid([]byte(strings.TrimPrefix(v, "+")))
}

// dates are the usual layouts of dates and times.
var dates = []string{
	time.RFC3339, time.DateTime, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04:05-0700", "2006-01-02T15:04",
	"2006-01-02 15:04", "2006-01-02 15:04:05-07:00", "2006-01-02 15:04:05 MST", "2006/01/02", "2006/01/02 15:04:05",
	"01/02/2006", "02/01/2006", "01/02/2006 15:04:05", "02/01/2006 15:04:05", "02.01.2006", "02.01.2006 15:04:05",
	time.TimeOnly, "15:04", time.RFC1123, time.RFC1123Z,
}

func isDate(v string) bool {
	if len(v) < len("15:04") || len(v) > 40 {
		return false
	}
	for _, layout := range dates {
		if _, err := time.Parse(layout, v); err == nil {
			return true
		}
	}
	return false
}

// Warnings returns the warnings about the events seen so far.
func (w *Watch) Warnings() (warnings []string) {
	for _, one := range []struct {
		is        func(*feature) bool
		one, many string
		text      string
	}{
		{
			func(f *feature) bool { return f.beyond }, "1 numeric feature has", "numeric features have",
			"values beyond ±1 and no range in ORIEL_FEATURES_RANGE: %s. A large number drowns all other features. Give each a public range, " +
				"name:low:high, where the service runs",
		},
		{
			(*feature).isNumbers, "1 feature has", "features have",
			"numbers as texts: %s. Each text is learned as a category of its own, far from its neighbours. Send JSON numbers, such as 12.5 in " +
				"place of \"12.5\", and give them a range",
		},
		{
			(*feature).isDates, "1 feature has", "features have",
			"dates or times as texts: %s. A date that never returns teaches nothing. Send a part that returns, such as the hour and the weekday, as " +
				"numbers with a cyclic range",
		},
		{
			(*feature).isIDs, "1 feature has", "features have",
			"texts that look like ids: %s. Most of them come once or twice, and teach nothing about others. Leave them out, or send a property that such " +
				"things have in common",
		},
	} {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(w.named)) {
			if f := w.named[name]; one.is(f) && !f.isConstant(name) {
				names = append(names, text.Shown([]byte(name)))
			}
		}
		if len(names) == 0 {
			continue
		}
		head := one.one
		if len(names) > 1 {
			head = fmt.Sprintf("%d %s", len(names), one.many)
		}
		warnings = append(warnings, head+" "+fmt.Sprintf(one.text, list(names)))
	}
	return warnings
}

// list lists at most mostNamesSay names.
func list(names []string) string {
	more := ""
	if len(names) > mostNamesSay {
		names, more = names[:mostNamesSay], ", …"
	}
	return strings.Join(names, ", ") + more
}
