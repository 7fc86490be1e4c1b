package traps

import (
	"fmt"
	"strings"
	"testing"

	"oriel/schemas/event"
)

// sees checks the warnings about events in a small file; feature returns the text of the i-th event's only feature.
func sees(t *testing.T, events int, feature func(i int) string, want ...string) {
	t.Helper()
	w := NewWatch("features", []event.Range{{Name: "ranged", Low: 0, High: 1}})
	for i := range events {
		w.See(fmt.Appendf(nil, `{"features":{%s},"label":1}`, feature(i)))
	}
	got := w.Warnings()
	if len(got) != len(want) {
		t.Fatalf("%s: warnings %q, want %q", feature(1), got, want)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("%s: %q, want %q", feature(1), got[i], want[i])
		}
	}
}

func TestNumbersWithoutARange(t *testing.T) {
	of := func(value string) func(int) string { return func(int) string { return value } }
	sees(t, 1, of(`"amount":1400`), `1 numeric feature has values beyond ±1 and no range in ORIEL_FEATURES_RANGE: "amount". A large`)
	sees(t, 1, of(`"amount":-1.01`), `: "amount".`)
	sees(t, 3, of(`"constant":3`)) // as `oriel plan` advises
	sees(t, 20, of(`"bias":-3`))
	sees(t, 19, of(`"bias":-3`), `: "bias".`)
	sees(t, 99, of(`"bias":3.5`), `: "bias".`)
	sees(t, 99, func(i int) string { return fmt.Sprintf(`"constant":%d`, 2+i%2) }, `: "constant".`)
	sees(t, 9, of(`"amount":1,"b":-1,"c":0.5,"d":true,"ranged":1e9`))
	sees(t, 1, of(`"g":2,"f":2,"e":2,"d":2,"c":2,"b":2,"a":2`), `7 numeric features have values beyond ±1 and no range in `+
		`ORIEL_FEATURES_RANGE: "a", "b", "c", "d", "e", …. A large`)
}

func TestNumbersAsTexts(t *testing.T) {
	f := func(want bool, feature func(i int) string) {
		t.Helper()
		if want {
			sees(t, 40, feature, `1 feature has numbers as texts: "x". Each text`)
		} else {
			sees(t, 40, feature)
		}
	}
	f(true, func(int) string { return `"x":"12.5"` })
	f(true, func(int) string { return `"x":"1e3"` })
	f(true, func(i int) string { return fmt.Sprintf(`"x":"%d"`, 17*i) })
	f(true, func(i int) string { return fmt.Sprintf(`"x":"%d"`, 1714556800+i) })
	f(true, func(i int) string { return fmt.Sprintf(`"x":"-%d"`, i) })
	f(false, func(i int) string { return fmt.Sprintf(`"x":"%d"`, i%24) }) // hours are categories, which are often texts
	f(false, func(i int) string { return fmt.Sprintf(`"x":"0%d"`, 210+i%7) })
	f(false, func(i int) string { return fmt.Sprintf(`"x":"%d,5"`, i%7) })
	f(false, func(i int) string { return []string{`"x":"7.5"`, `"x":"none"`}[i%2] })
	f(false, func(int) string { return `"x":"NaN"` })
}

func TestDatesAsTexts(t *testing.T) {
	for _, text := range []string{
		"2024-05-01", "2024-05-01T12:30:00Z", "2024-05-01T12:30:00.123+02:00", "2024-05-01 12:30:00", "12:30", "12:30:15",
		"05/13/2024", "13/05/2024", "13.05.2024", "2024-05-01T12:30:00", "Mon, 02 Jan 2006 15:04:05 MST",
	} {
		sees(t, 3, func(int) string { return `"at":"` + text + `"` }, `1 feature has dates or times as texts: "at". A date`)
	}
	sees(t, 3, func(int) string { return `"at":"Monday"` })
	sees(t, 3, func(i int) string { return []string{`"at":"12:30"`, `"at":"late"`}[i%2] })
}

func TestIDsAsTexts(t *testing.T) {
	ids := `1 feature has texts that look like ids: "user". Most`
	sees(t, 20, func(i int) string { return fmt.Sprintf(`"user":"u%d"`, i) }, ids)
	sees(t, 19, func(i int) string { return fmt.Sprintf(`"user":"u%d"`, i) })
	sees(t, 100, func(i int) string { return fmt.Sprintf(`"user":"u%d"`, i%51) }, ids)
	sees(t, 100, func(i int) string { return fmt.Sprintf(`"user":"u%d"`, i%50) })
	sees(t, 9000, func(i int) string { return fmt.Sprintf(`"user":"u%d"`, i%1001) }, ids)
	sees(t, 9000, func(i int) string { return fmt.Sprintf(`"user":"u%d"`, i%1000) })
	sees(t, 40, func(i int) string { return fmt.Sprintf(`"user":"0%d"`, i) }, ids)
}

// TestWatchLooksAtNamedFeatures checks that a Watch ignores everything but named features, and stops after the first
// mostEvents events.
func TestWatchLooksAtNamedFeatures(t *testing.T) {
	of := func(name string, kind event.Kind) *Watch {
		body := event.Body{Members: []event.Member{{Name: name, Kind: kind}}}
		return WatchOf(event.Config{Body: body})
	}
	w := of("features", event.KindVector)
	w.See([]byte(`{"features":{"amount":1400}}`))
	if got := w.Warnings(); got != nil {
		t.Errorf("events without features: %q", got)
	}
	w = of("named", event.KindFeatures)
	for _, value := range []string{
		``, `no JSON`, `[1]`, `{"features":{"amount":1400}}`, `{"named":[1400]}`, `{"named":7}`, `{"named":null}`,
		`{"named":{"indices":[0,1],"values":[1400,1400]}}`, `{"named":{"a":{"b":1400},"c":null}}`,
	} {
		w.See([]byte(value))
	}
	if got := w.Warnings(); got != nil {
		t.Errorf("no named numbers: %q", got)
	}
	w.See([]byte(`{"named":{"amount":1400}}`))
	if got := w.Warnings(); len(got) != 1 {
		t.Errorf("a number: %q", got)
	}
	w = NewWatch("named", nil)
	for range mostEvents {
		w.See([]byte(`{"named":{"a":1}}`))
	}
	w.See([]byte(`{"named":{"amount":1400}}`))
	if got := w.Warnings(); got != nil {
		t.Errorf("it goes on looking: %q", got)
	}
}

// TestWarningsHoldNames checks that warnings never contain a value of an event, however long or unusual a name is.
func TestWarningsHoldNames(t *testing.T) {
	w := NewWatch("features", nil)
	for i := range 40 {
		w.See(fmt.Appendf(nil, `{"features":{"%s\u0007":1400%d,"secretless":"canary%d","at":"2031-01-0%d"}}`,
			strings.Repeat("n", 200), i, i, 1+i%9))
	}
	all := strings.Join(w.Warnings(), "\n")
	for _, value := range []string{"canary", "2031", "1400"} {
		if strings.Contains(all, value) {
			t.Errorf("%s is in %s", value, all)
		}
	}
	if len(w.Warnings()) != 3 || !strings.Contains(all, `"`+strings.Repeat("n", 64)+`…"`) {
		t.Errorf("%s", all)
	}
}
