package bubbletest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// silent is a machine whose releases have all numbers set to 0 and all texts empty. Released numbers may depend on
// events, as the guarantee states, and so may the number of their digits. Nothing else may: the count of decisions,
// their steps, indices, topics, and how many numbers they have. Decisions for the second topic are releases only in the
// members that they repeat from the newest release. silent keeps their points and their own members, whose size must
// not depend on events.
type silent struct {
	operators.Machine
	own []bool // by extra: whether a decision for the second topic does not repeat it from a release
}

// ownMembers are the members of actions that are not members of the newest model.
var ownMembers = []string{"arm", "key", "space", "filler", "answers"}

func (m silent) Open(dst []operators.Decision) []operators.Decision {
	return m.silence(m.Machine.Open(dst), len(dst))
}

func (m silent) Close(dst []operators.Decision) []operators.Decision {
	return m.silence(m.Machine.Close(dst), len(dst))
}

// silence clears the released numbers and texts of the decisions from index `from` on. It replaces the slices of a
// decision instead of changing them, because they belong to the machine.
func (m silent) silence(all []operators.Decision, from int) []operators.Decision {
	for i := from; i < len(all); i++ {
		d := &all[i]
		if d.Output == 0 {
			d.Point = make([]float64, len(d.Point))
		}
		said := d.Extras
		d.Extras = make([]decision.ExtraValue, len(said))
		for k := range said {
			if d.Output != 0 && m.own[k] {
				d.Extras[k] = said[k]
				continue
			}
			d.Extras[k].Numbers = make([]float64, len(said[k].Numbers))
		}
	}
	return all
}

// silenced returns the configured model with silent machines.
func silenced() func(settings.Settings) (streams.Model, error) {
	return seated(func(m *streams.Model, _ protection.Guarantee) {
		m.Learner = silencing{m.Learner}
	})
}

// silencing is a learner whose machines are silent.
type silencing struct{ streams.Opener }

func (l silencing) Open(params []byte) (func(key [32]byte) (operators.Machine, error), error) {
	open, err := l.Opener.Open(params)
	var own []bool
	for _, x := range l.Operator().Extras() {
		own = append(own, slices.Contains(ownMembers, x.Name))
	}
	return func(key [32]byte) (operators.Machine, error) {
		machine, err := open(key)
		return silent{machine, own}, err
	}, err
}

// TestNeighboursOfEveryOperatorLookAlike replaces events by other events in the operator's own form, and some by
// malformed ones, in each encoding of decisions. Keys are public and stay. Nothing visible but the released numbers may
// differ. In the short form each operator has one of the exchanges, one of the crashes and one of the encodings, and
// the next operator has others. An operator whose second topic answers records has each encoding.
func TestNeighboursOfEveryOperatorLookAlike(t *testing.T) {
	for row, s := range subjects(t) {
		for e, encoding := range decision.Encodings {
			if tiertest.Runs(e != row%len(decision.Encodings) && s.further(t) == nil, false) {
				continue
			}
			of := s
			of.env = maps.Clone(s.env)
			of.env["ORIEL_DECISIONS_FORMAT"] = encoding
			t.Run(s.name+" in "+encoding, func(t *testing.T) {
				t.Parallel()
				of.neighboursLookAlike(t, row+e)
			})
		}
	}
}

func (s subject) neighboursLookAlike(t *testing.T, row int) {
	model := silenced()
	in := neighbour{partitions: 1, burst: 12, env: s.env, further: s.further(t), size: 160}
	at := func(n, i int) int { return n*in.burst + i }
	records := slices.DeleteFunc(s.records, func(r records.Record) bool { return len(r.Value) > in.size })
	values := make([]string, bursts*in.burst)
	for i := range values {
		values[i] = string(records[i].Value)
		if key := records[i].Key; key != nil {
			in.keys = append(in.keys, string(key))
		}
	}
	s.mostAreEvents(t, values)
	as := func(n, i int) string { return values[at(n, i)] }
	in.value = as
	want, _ := observe(t, model, in)
	for _, topic := range append([]string{"decisions"}, in.further...) {
		if !slices.ContainsFunc(want, func(line string) bool { return strings.HasPrefix(line, "late."+topic+"/0: ") }) {
			t.Errorf("no %s", topic)
		}
	}
	exchanges := map[string]func(n, i int) string{
		"the first": func(n, i int) string { return either(at(n, i) == 0, as(n, i)) },
		"the last":  func(n, i int) string { return either(at(n, i) == len(values)-1, as(n, i)) },
		"all":       func(int, int) string { return either(true, "") },
		"empty":     func(n, i int) string { return []string{`{}`, as(n, i)}[i%2] },
		"alternate": func(n, i int) string { return either(i%2 == 0, as(n, i)) },
		"others":    func(n, i int) string { return values[(at(n, i)+5)%len(values)] },
		"one":       func(int, int) string { return values[0] },
	}
	for k, what := range slices.Sorted(maps.Keys(exchanges)) {
		if tiertest.Runs((k+row)%len(exchanges) > 0, false) {
			continue
		}
		in.value = exchanges[what]
		got, _ := observe(t, model, in)
		if text := simtest.Difference(want, got); text != "" {
			t.Errorf("%s: %s", what, text)
		}
	}
	deaths := []notice.Point{notice.PointProduced, notice.PointEnded}
	for _, in.kill = range tiertest.Runs(deaths[row%2:row%2+1], deaths) {
		in.at, in.value = 3, as
		want, _ := observe(t, model, in)
		in.value = func(n, i int) string { return either(i%3 == 0, values[(at(n, i)+5)%len(values)]) }
		got, _ := observe(t, model, in)
		if text := simtest.Difference(want, got); text != "" {
			t.Errorf("killed %s: %s", in.kill, text)
		}
	}
}

// mostAreEvents checks that most values are valid events, because an input of malformed values only would test nothing.
func (s subject) mostAreEvents(t *testing.T, values []string) {
	t.Helper()
	config := s.settings.EventConfig()
	decoder, err := event.NewJSONDecoder(config)
	if err != nil {
		t.Fatal(err)
	}
	var event event.Event
	good := 0
	for _, value := range values {
		if decoder.Decode(&event, []byte(value)) == text.OK {
			good++
		}
	}
	if 3*good < 2*len(values) {
		t.Errorf("of %d values %d are events", len(values), good)
	}
}
