package setting

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// letters is a Row.Entry that accepts words and converts them to lower case.
func letters(text string) (string, bool) {
	text = strings.ToLower(text)
	return text, strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") == ""
}

var table = []Row{
	{Name: "KIND", Kind: Text, Unit: "name", Choices: []string{"plain", "fancy"}, Default: "plain"},
	{Name: "RATE", Kind: Number, Unit: "1/s", Required: true, Text: "how often"},
	{Name: "DIMENSION", Kind: Count, Unit: "coordinates", Required: true, Decodes: true, Text: "how many"},
	{Name: "STRICT", Kind: Flag, Unit: "bool", Default: "false"},
	{Name: "ARMS", Kind: List, Unit: "name,…", Range: "words", Entry: letters, Default: "a,b"},
	{Name: "CELLS", Kind: File, Unit: "file", Range: "words", Entry: letters},
	{Name: "BONUS", Kind: Number, Unit: "nats", Default: "0.50"},
	{Name: "MORE", Kind: List, Unit: "name,…", Default: "x"},
}

var files = map[string]string{"cells.txt": "# cells\nNorth\n\n  south \n", "bad.txt": "north\nsecret 17\n"}

// read parses lines NAME=value and returns the values and the problems found.
func read(need func(Row) bool, lines ...string) (*Values, *Problems) {
	given := map[string]string{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		given[Prefix+name] = value
	}
	p := &Problems{}
	open := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return Source{Given: given, ReadFile: open}.Read(p, table, need), p
}

func all(Row) bool { return true }

func none(Row) bool { return false }

func TestValuesAreReadByKind(t *testing.T) {
	v, p := read(all, "RATE= 0.25 ", "DIMENSION=7", "STRICT=true", "ARMS=Left, right", "CELLS=cells.txt")
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(v.Text("KIND"), v.Number("RATE"), v.Count("DIMENSION"), v.Flag("STRICT"), v.Entries("ARMS"),
		v.Entries("CELLS"))
	if want := fmt.Sprint("plain", 0.25, 7, true, []string{"left", "right"}, []string{"north", "south"}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestProblemsAreReportedOncePerVariable checks that each variable has at most one problem, and that no text of a file
// is quoted.
func TestProblemsAreReportedOncePerVariable(t *testing.T) {
	v, p := read(all, "KIND=odd", "RATE=often", "ARMS=left,2", "CELLS=bad.txt", "STRICT=perhaps", "BONUS=1")
	v.Positive("RATE", v.Number("RATE"))
	v.Want("BONUS", false, "%d is too much", 1)
	want := []string{
		`ORIEL_KIND: "odd": not one of plain, fancy`,
		`ORIEL_RATE: "often": not a number in decimal digits (unit: 1/s)`,
		"ORIEL_DIMENSION: not set; how many",
		`ORIEL_STRICT: "perhaps": not true or false`,
		`ORIEL_ARMS: entry 2: "2": not words`,
		"ORIEL_CELLS: bad.txt: line 2: not words",
		"ORIEL_BONUS: 1 is too much",
	}
	if got := strings.Split(fmt.Sprint(p.Err()), "\n"); !slices.Equal(got, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, p := read(all, "RATE=1", "DIMENSION=1", "CELLS=gone.txt"); !errors.Is(p.Err(), fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", p.Err())
	}
}

// TestUnneededSettingsAreNotRequired checks that settings that are not needed may be missing. Their files are not
// opened, but a text that is not a value of its setting is reported.
func TestUnneededSettingsAreNotRequired(t *testing.T) {
	if _, p := read(none, "CELLS=gone.txt"); p.Err() != nil {
		t.Error(p.Err())
	}
	for _, line := range []string{"RATE=often", "KIND=odd", "ARMS=2", "DIMENSION=-1", "STRICT=2"} {
		if _, p := read(none, line); p.Err() == nil {
			t.Errorf("%s is accepted", line)
		}
	}
	decodes := func(s Row) bool { return s.Decodes }
	if _, p := read(decodes); fmt.Sprint(p.Err()) != "ORIEL_DIMENSION: not set; how many" {
		t.Error(p.Err())
	}
}

// TestCanonicalLines checks that equal values give equal lines, in whichever notation they are set, and that each
// setting has a line.
func TestCanonicalLines(t *testing.T) {
	lines := func(more ...string) string {
		v, p := read(all, append([]string{"RATE=1e-3", "DIMENSION=07"}, more...)...)
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
		return strings.Join(v.Canonical(), "\n")
	}
	const left = "sha256:96e7ae6fca908dd4b33c795f596c58d8f56c92f36be557d65f8b5d79cf0e98a4"
	const x = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
	first := lines("ARMS=left,right")
	want := "KIND=plain\nRATE=0.001\nDIMENSION=7\nSTRICT=false\nARMS=" + left + "\nCELLS=\nBONUS=0.5\nMORE=" + x
	if first != want {
		t.Errorf("canonical lines\n%s\nwant\n%s", first, want)
	}
	if again := lines("ARMS= Left ,RIGHT", "BONUS=5e-1", "MORE=x"); again != first {
		t.Errorf("the same values are other lines:\n%s", again)
	}
	if other := lines("ARMS=right,left"); other == first {
		t.Error("the order of entries changes no line")
	}
	if other := lines("ARMS=left,right", "BONUS=0.25"); other != strings.Replace(first, "BONUS=0.5", "BONUS=0.25", 1) {
		t.Errorf("another bonus: %s", other)
	}
	if a, b := lines("CELLS=cells.txt"), lines(); a == b || strings.Contains(a, "north") {
		t.Errorf("a file's canonical line: %s", a)
	}
}
