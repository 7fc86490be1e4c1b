package main

import (
	"fmt"
	"strings"
	"testing"

	"oriel/cmd/internal/servicetest"
)

// says runs a command within the test and returns what it writes to standard output and to standard error.
func says(t *testing.T, args ...string) (out, notes string, err error) {
	t.Helper()
	var o, n strings.Builder
	cmd := root()
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(""))
	cmd.SetOut(&o)
	cmd.SetErr(&n)
	err = cmd.ExecuteContext(t.Context())
	return o.String(), n.String(), err
}

// orders are lines of nested JSON with members that nobody asks for, each within front and back.
func orders(n int, front, back string) []byte {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `%s{"order_id":"o-%d","at":"2026-03-%02dT%02d:05:00Z","customer":{"id":"c-%d","country":%q},`+
			`"order":{"total":"%d.50","lines":[{"sku":"secret"}]},"refunded":%t,"note":"secret %d"}%s`+"\n",
			front, i, i%28+1, i%24, i%7, []string{"DE", "FR", "US"}[i%3], i%90, i%5 == 0, i, back)
	}
	return []byte(lines.String())
}

// A proposal tells features, times, identifiers and free text apart, and shows contents in the first events alone.
func TestAMappingIsProposed(t *testing.T) {
	t.Parallel()
	const document = `{
  "label": "/refunded",
  "features": [
    {"name": "hour", "from": "/at", "as": "hour"},
    {"name": "weekday", "from": "/at", "as": "weekday"},
    "/customer/country",
    "/order/total:number"
  ]
}
`
	for _, c := range [][2]string{{}, {`{"specversion":"1.0","id":"1","source":"/shop","type":"order","data":`, `}`}} {
		file := servicetest.WriteFile(t, "orders", orders(100, c[0], c[1]))
		out, notes, err := says(t, "map", "--sample", file, "--label", "/refunded")
		if err != nil || out != document {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, text := range []string{
			"/order_id: an identifier", "/customer/id: an identifier", "/note: most values come once", "/order/lines: a list",
			"ORIEL_FEATURES_RANGE=hour:0:24:cyclic,weekday:1:8:cyclic,total:0:100\n", "a number from a sample is not public",
			`{"features":{"hour":0,"weekday":7,"country":"DE","total":0.5},"label":true}`,
		} {
			if !strings.Contains(notes, text) {
				t.Errorf("%s\nlacks %s", notes, text)
			}
		}
		_, notes, err = says(t, "map", "--sample", file, "--first", "0")
		if err != nil || !strings.Contains(notes, "--label says what is predicted; of two classes are /refunded") ||
			strings.Contains(notes, "secret") || strings.Contains(notes, "DE") {
			t.Errorf("%v\n%s", err, notes)
		}
	}
	unknown := servicetest.WriteFile(t, "record", []byte("\x00\x00\x00\x00\x07\x02\x04"))
	_, _, err := says(t, "map", "--sample", unknown)
	if err == nil || !strings.Contains(err.Error(), "--schema-file names it") {
		t.Error(err)
	}
}
