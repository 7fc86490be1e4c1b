package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oriel/cmd/internal/repotest"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

const orders = `{"label":"/total>15","features":["/customer/country"]}`

// TestMappingsAreFrozenByTheirDigest checks the lines of the configuration for a mapping, which has its digest, and for
// the treatment of unknown members.
func TestMappingsAreFrozenByTheirDigest(t *testing.T) {
	canonical := func(lines ...string) string {
		t.Helper()
		return loaded(t, lines...).Canonical()
	}
	file := filepath.Join(t.TempDir(), "map.json")
	if err := os.WriteFile(file, []byte("\n"+orders+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own, inline := canonical(), canonical("ORIEL_MAP= "+orders)
	const line = "MAP=sha256:00efc9997a5ebfd18f3c7bff66fa080082b31f0cf9e9e18ea49971db19ad9ecb"
	if !strings.Contains(own, "\nMAP=\n") || !strings.Contains(own, "\nUNKNOWN=null\n") ||
		!strings.Contains(inline, "\n"+line) {
		t.Errorf("with a mapping:\n%s\nwithout:\n%s", inline, own)
	}
	if got := canonical("ORIEL_MAP=" + file); got != inline {
		t.Errorf("from a file:\n%s\nwant\n%s", got, inline)
	}
	ignored := canonical("ORIEL_MAP="+orders, "ORIEL_UNKNOWN=ignore")
	if ignored != inline || canonical("ORIEL_UNKNOWN=null") != own {
		t.Error("a default that is written out changes the configuration")
	}
	for _, lines := range [][]string{{"ORIEL_UNKNOWN=ignore"}, {"ORIEL_MAP=" + orders, "ORIEL_UNKNOWN=null"}} {
		want := "\n" + strings.TrimPrefix(lines[len(lines)-1], "ORIEL_") + "\n"
		if got := canonical(lines...); !strings.Contains(got, want) {
			t.Errorf("%v:\n%s", lines, got)
		}
	}
}

// TestProblemsOfAMapping checks that problems of a mapping are reported together with all other problems of the
// settings, each with its place in the document.
func TestProblemsOfAMapping(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		_, err := Load(append(minimal(), line), Events)
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %s", line, err, text)
			}
		}
	}
	f("ORIEL_MAP=nowhere.json", "ORIEL_MAP: open nowhere.json", "the path is from the folder that oriel runs in")
	f(`ORIEL_MAP={"label":1,"features":[{"name":"a","from":"b","as":"c"}]}`,
		"ORIEL_MAP: label: is a number; it must be a text or an object\n", `ORIEL_MAP: features[0].as: "c": not one of number, `)
	f(`ORIEL_MAP={"features":["a"]}`, "ORIEL_MAP: label: missing: events of coco must have one")
	f(`ORIEL_UNKNOWN=pass`, `ORIEL_UNKNOWN: "pass": not one of ignore, null`)
}

// TestDecodersOfAMapping checks that null events are explained with the deployment's own mapping, or not at all.
func TestDecodersOfAMapping(t *testing.T) {
	environ := append(minimal(), "ORIEL_MAP="+orders)
	s, err := Load(environ, all...)
	if err != nil {
		t.Fatal(err)
	}
	other := append(minimal(), "ORIEL_MAP="+orders+"}")
	if DecoderOf(s.Canonical(), nil, nil) != nil || DecoderOf(s.Canonical(), other, nil) != nil {
		t.Error("a decoder without the mapping")
	}
	d := DecoderOf(s.Canonical(), environ, nil)
	if d == nil {
		t.Fatal("no decoder")
	}
	var e event.Event
	value := []byte(`{"total":[]}`)
	const want = "label: wrong_type: /total is a list, an object or bytes; it must be a number to compare"
	if got := d.Problem(value, d.Decode(&e, value)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if ignoring := DecoderOf(loaded(t, "ORIEL_UNKNOWN=ignore").Canonical(), nil, nil); ignoring == nil ||
		ignoring.Decode(&e, []byte(`{"x":{"y":[1,"\n"]},"features":{"a":1},"x":2,"label":1}`)) != text.OK {
		t.Error("a decoder of the configuration alone does not pass over unknown members")
	}
}

// TestMappingOfTheText checks that the mapping shown in deploy/MAPPING.md is valid.
func TestMappingOfTheText(t *testing.T) {
	text, err := os.ReadFile(repotest.Path("deploy/MAPPING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```json\n")
	document, _, ended := strings.Cut(rest, "\n```")
	if !found || !ended {
		t.Fatal("deploy/MAPPING.md shows no mapping")
	}
	loaded(t, "ORIEL_MAP="+document)
}
