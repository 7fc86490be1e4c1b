//go:build bench

package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// form describes the records that an operator accepts.
type form struct {
	suffix string                                        // the name of the input topic ends in it
	of     func(t *testing.T, flights [][]byte) [][]byte // makes events from flights
	key    func(i int) []byte                            // returns the key of a partition's i-th record; nil: no keys
}

// form returns the form of records of the settings' operator.
func (s settings) form() form {
	number := func(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }
	switch s.setting("ORIEL_OPERATOR") {
	case "aggregate":
		return form{suffix: "-rows", of: rows}
	case "arms", "bandit": // feedback in the order of the actions: ORIEL_PLAYS equals ORIEL_BATCH
		return form{suffix: "-plays", of: answers("loss"), key: func(i int) []byte { return number(i + 1) }}
	case "sets":
		return form{suffix: "-worths", of: answers("worth"), key: func(i int) []byte { return number(i + 1) }}
	case "linucb":
		return form{suffix: "-contexts", of: contexts, key: func(i int) []byte { return number(i / 2) }}
	case "submodular":
		if n := s.setting("ORIEL_ELEMENTS"); n != "" {
			return form{suffix: "-values", of: values(n)}
		}
		return form{suffix: "-places", of: places}
	}
	return form{of: func(_ *testing.T, flights [][]byte) [][]byte { return flights }}
}

// setting returns the value of a setting, or "" if the list does not have it.
func (s settings) setting(name string) string {
	for _, entry := range slices.Backward(s) {
		if text, found := strings.CutPrefix(entry, name+"="); found {
			return text
		}
	}
	return ""
}

// flown holds the members of a flight from which other forms make their events.
type flown struct {
	Features struct {
		Carrier json.RawMessage `json:"carrier"`
		Dest    json.RawMessage `json:"dest"`
		Hour    json.RawMessage `json:"hour"`
	} `json:"features"`
}

// changed makes an event of each flight by calling to.
func changed(t *testing.T, flights [][]byte, to func(f flown) ([]byte, error)) [][]byte {
	t.Helper()
	events := make([][]byte, len(flights))
	for i, event := range flights {
		var f flown
		err := json.Unmarshal(event, &f)
		if err != nil {
			t.Fatal(err)
		}
		if events[i], err = to(f); err != nil {
			t.Fatal(err)
		}
	}
	return events
}

// rows makes events with carrier and hour, as columns.
func rows(t *testing.T, flights [][]byte) [][]byte {
	t.Helper()
	return changed(t, flights, func(f flown) ([]byte, error) {
		return json.Marshal(map[string]json.RawMessage{"carrier": f.Features.Carrier, "hour": f.Features.Hour})
	})
}

// places makes events that have the flight's destination as their place.
func places(t *testing.T, flights [][]byte) [][]byte {
	t.Helper()
	return changed(t, flights, func(f flown) ([]byte, error) {
		return json.Marshal(map[string]json.RawMessage{"place": f.Features.Dest})
	})
}

// values makes events with one value of two digits for each element. elements is their number, in decimals.
func values(elements string) func(*testing.T, [][]byte) [][]byte {
	return func(t *testing.T, _ [][]byte) [][]byte {
		t.Helper()
		n, err := strconv.Atoi(elements)
		if err != nil {
			t.Fatal(err)
		}
		events := make([][]byte, 1000)
		for i := range events {
			events[i] = []byte(`{"values":[`)
			for a := range n {
				if a > 0 {
					events[i] = append(events[i], ',')
				}
				events[i] = fmt.Appendf(events[i], "%g", float64((i*7919+a*104729+a*i)%100)/100)
			}
			events[i] = append(events[i], "]}"...)
		}
		return events
	}
}

// answers makes feedback to actions, in a member of the given name.
func answers(name string) func(*testing.T, [][]byte) [][]byte {
	return func(t *testing.T, _ [][]byte) [][]byte {
		t.Helper()
		all := make([][]byte, 1000)
		for i := range all {
			all[i] = fmt.Appendf(nil, `{"%s":%g}`, name, float64(i*7919%1000)/1000)
		}
		return all
	}
}

// contexts makes events with an arm and a reward beside a flight's features. If actions are served, every other event
// is read as a context, and the one after it as its reward.
func contexts(t *testing.T, flights [][]byte) [][]byte {
	t.Helper()
	events := make([][]byte, len(flights))
	for i, event := range flights {
		var f struct {
			Features json.RawMessage `json:"features"`
		}
		if err := json.Unmarshal(event, &f); err != nil {
			t.Fatal(err)
		}
		events[i] = fmt.Appendf(nil, `{"features":%s,"arm":%d,"reward":%g}`, f.Features, i%10, float64(i*7919%1000)/1000)
	}
	return events
}
