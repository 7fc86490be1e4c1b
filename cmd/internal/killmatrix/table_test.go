package killmatrix

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write MATRIX.md")

// TestTableIsThatOfTheFaults checks that MATRIX.md is the table generated from the faults of testdata.
func TestTableIsThatOfTheFaults(t *testing.T) {
	want := table(read(t))
	if *rewrite {
		if err := os.WriteFile("MATRIX.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("MATRIX.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("MATRIX.md is not the table of the faults; write it with go test ./cmd/internal/killmatrix -rewrite")
	}
}

// table returns the content of MATRIX.md.
func table(places []place) string {
	var summary, tables, same strings.Builder
	faults, audited := 0, 0
	for _, p := range places {
		if p.name == equivalents {
			writeEquivalents(&same, p)
			continue
		}
		seen := 0
		fmt.Fprintf(&tables, "\n## %s\n\n| planted | in | test | audit |\n|---|---|---|---|\n", p.says)
		for _, f := range p.faults {
			tests, modes := f.columns()
			fmt.Fprintf(&tables, "| %s | `%s` | %s | %s |\n", f.breaks, f.file, tests, modes)
			if modes != "" {
				seen++
			}
		}
		fmt.Fprintf(&summary, "| %s | %d | %d |\n", p.name, len(p.faults), seen)
		faults, audited = faults+len(p.faults), audited+seen
	}
	return "# The kill matrix\n\n" +
		"Faults of the privacy path that are planted one at a time, and the tests that find them. A row says what the\n" +
		"fault breaks, and names the file that has it, the test of a package that fails, and the mode of the audit that\n" +
		"fails, if one is known. A mode is pairs of runs that are recorded and replayed, statistical attacks and checks,\n" +
		"or random histories of a service. The changes are in `testdata`; `doc.go` says how they are planted. This file\n" +
		"is written by `go test ./cmd/internal/killmatrix -rewrite`.\n\n" +
		"| place | faults | with a mode of the audit |\n|---|---|---|\n" + summary.String() +
		fmt.Sprintf("| all | %d | %d |\n", faults, audited) + tables.String() + same.String()
}

// columns returns the tests and the modes of the audit that kill a fault. It always returns at least one test.
func (f fault) columns() (tests, modes string) {
	var t, m []string
	for _, k := range f.killers {
		switch k.mode {
		case byTest:
			folder, test, _ := strings.Cut(k.name, " ")
			t = append(t, "`"+folder+"` "+test)
		case byStory:
			t = append(t, "stories of `"+k.name+"`")
		case byPairs:
			m = append(m, "pairs: "+k.name)
		case byAttack:
			m = append(m, "attack: "+k.name)
		case byHistories:
			m = append(m, "histories")
		}
	}
	if k := f.killers[0]; len(t) == 0 { // if only a mode of the audit kills the fault, name the test that runs this mode
		t = append(t, "`"+k.folder+"` "+k.top())
	}
	return strings.Join(t, ", "), strings.Join(m, "; ")
}

// writeEquivalents writes the changes that no test can find, with the argument for each.
func writeEquivalents(b *strings.Builder, p place) {
	fmt.Fprintf(b, "\n## %s\n\n| change | in | why no test can see it |\n|---|---|---|\n", p.says)
	for _, f := range p.faults {
		fmt.Fprintf(b, "| %s | `%s` | %s |\n", f.breaks, f.file, f.because)
	}
}
