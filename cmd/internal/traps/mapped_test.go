package traps

import (
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/settings"
)

// A mapping shows numbers without a range and identifiers before there is a record; a Watch sees what records show, in
// whatever form they are.
func TestTrapsOfMappings(t *testing.T) {
	f := func(features string, want ...string) {
		t.Helper()
		document := `{"label":"late","features":[` + features + `]}`
		s, err := settings.Load(usual("ORIEL_MAP="+document), settings.Events, settings.Operator)
		if err != nil {
			t.Fatal(err)
		}
		got := Unseen(s)
		if len(got) != len(want) || slices.ContainsFunc(want, func(text string) bool {
			return !strings.Contains(strings.Join(got, "\n"), text)
		}) {
			t.Errorf("%s: %q, want %q", features, got, want)
		}
	}
	f(`"country","/order/amount:number","valid","/paid"`)
	f(`"/order/total:number",{"name":"hour","from":"time","as":"hour"},{"name":"kg","from":"g","scale":0.001}`,
		`range in ORIEL_FEATURES_RANGE: "total", "hour", "kg". A number`)
	f(`"/user/id","who=/customerId","orderUUID","from-IP","grid","paid"`, `identifiers as features: "id", "who", "orderUUID", "from-IP". Most`)
	f(`"session_key:text",{"name":"idle","compare":"/id=7"}`, `identifiers as features: "session_key"`)

	s, err := settings.Load(usual(`ORIEL_MAP={"label":"late","features":["/a/b"]}`), settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	events, err := s.EventConfig()
	if err != nil {
		t.Fatal(err)
	}
	w := WatchOf(events)
	for range 3 {
		w.See([]byte(`{"late":1,"a":{"b":1400},"features":{"c":1400}}`))
		w.See([]byte(`{"late":"?","a":{"b":"2024-05-01"}}`))
	}
	if got := w.Warnings(); len(got) != 1 || !strings.Contains(got[0], `no range in ORIEL_FEATURES_RANGE: "b". A`) {
		t.Errorf("%q", got)
	}
}
