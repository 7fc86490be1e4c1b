package settings

import (
	"strings"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// TestDecodersOfAConfiguration checks that the explaining decoder is the deployment's. It must be built from the
// canonical configuration alone or, if the configuration has only digests, from an environment that matches them.
func TestDecodersOfAConfiguration(t *testing.T) {
	f := func(config string, environ []string, value, want string) {
		t.Helper()
		d := DecoderOf(config, environ, nil)
		if d == nil {
			if want != "" {
				t.Errorf("%s: no decoder, want %q", value, want)
			}
			return
		}
		var e event.Event
		if got := d.Problem([]byte(value), d.Decode(&e, []byte(value))); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	coco, err := Load(append(minimal(), "ORIEL_FEATURES_RANGE=a:0:1", "ORIEL_MAX_RECORD_BYTES=99"), all...)
	if err != nil {
		t.Fatal(err)
	}
	const id = `{"id":1}`
	f(coco.Canonical(), nil, id, `unknown_name: unknown member "id": events of coco have features, label, weight`)
	f(coco.Canonical(), []string{"ORIEL_OPERATOR=arms"}, id, `unknown_name: unknown member "id": events of coco have features, label, weight`)
	f(coco.Canonical(), nil, `{"id":"`+strings.Repeat("x", 99)+`"}`, "too_large: "+text.TooLarge.Rule())
	f("OPERATOR=unheard\n", nil, id, "")
	f("", nil, id, "")

	cells := []string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=place=a|b", "ORIEL_STATISTICS=count", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=64", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
	}
	table, err := Load(cells, Events, Operator)
	if err != nil {
		t.Fatal(err)
	}
	f(table.Canonical(), nil, id, "")
	f(table.Canonical(), cells, id, `unknown_name: unknown member "id": events of aggregate have place`)
	for config, want := range map[string]bool{
		"OPERATOR=aggregate\nSTATISTICS=\n": true, "OPERATOR=aggregate\nSTATISTICS=sha256:ab\n": false,
		"OPERATOR=submodular\nPLACES=sha256:ab\n": false, "OPERATOR=coco\nEDGES=sha256:ab\n": true,
	} {
		if _, ok := decodingOf(config); ok != want {
			t.Errorf("%q: what decodes is known: %t", config, ok)
		}
	}
	other := append(cells[:len(cells):len(cells)], "ORIEL_CELLS=where=a|b")
	f(table.Canonical(), other, id, "") // another deployment may have other words for the same settings
}

// TestRangesNameTheirSetting checks that errors of ranges name the setting, the range and the rule, and no package.
func TestRangesNameTheirSetting(t *testing.T) {
	for text, want := range map[string]string{
		"x:0:0x10":      `ORIEL_FEATURES_RANGE: range 1, of "x": high is not a finite decimal number`,
		"a:0:1,x:y:1":   `ORIEL_FEATURES_RANGE: range 2, of "x": low is not a finite decimal number`,
		"x:1":           "ORIEL_FEATURES_RANGE: range 1: not name:low:high or name:low:high:cyclic",
		"a:0:1,a:0:2":   `ORIEL_FEATURES_RANGE: range of "a": given twice`,
		"a:2:1":         `ORIEL_FEATURES_RANGE: range of "a": not low < high with a finite width`,
		"a:0:1:cyclic:": "ORIEL_FEATURES_RANGE: range 1",
	} {
		_, err := Load(append(minimal(), "ORIEL_FEATURES_RANGE="+text), Events)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "schemas:") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
