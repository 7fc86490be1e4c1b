package killmatrix

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the repository's root folder.
const root = "../../.."

// place is a component of the privacy path, with the faults that are planted there.
type place struct {
	name   string
	says   string // heading of the place in MATRIX.md
	faults []fault
}

// fault is a change to a file that tests must find.
type fault struct {
	breaks      string
	file        string // path from the module's root
	text, other string // original lines, and faulty lines
	killers     []killer
	because     string // argument why no test can find an equivalent change
}

// killer is a test that must fail when the fault is planted.
type killer struct {
	mode   mode
	folder string
	run    string         // pattern of go test's -run
	args   []string       // additional arguments of the test
	says   *regexp.Regexp // pattern that the output of the failure must match; nil: any output
	name   string         // the killer's line in the file
}

// mode is the kind of a killer, for example a test or an attack.
type mode string

const (
	byTest      mode = "test"
	byStory     mode = "story"
	byPairs     mode = "pairs"
	byAttack    mode = "attack"
	byHistories mode = "histories"
)

// historyCount is the number of random histories, one of which must find a fault.
const historyCount = "2000"

// newKiller returns the killer that a line of a fault describes.
func newKiller(m mode, name string) (killer, error) {
	k := killer{mode: m, name: name}
	switch m {
	case byTest:
		var some bool
		if k.folder, k.run, some = strings.Cut(name, " "); !some {
			return k, fmt.Errorf("%q is no folder and test", name)
		}
		parts := strings.Split(k.run, "/")
		for i := range parts {
			parts[i] = "^" + parts[i] + "$"
		}
		k.run = strings.Join(parts, "/")
	case byStory:
		k.folder, k.run = "cmd/internal/operatortest", "^TestOperatorStories$/^"+name+"$"
	case byPairs:
		k.folder, k.run = "cmd/internal/audit", "^TestNeighbours$/^"+strings.ReplaceAll(name, " ", "_")+"$"
		k.says = regexp.MustCompile("FAIL: TestNeighbours/")
	case byAttack:
		machine, reason, some := strings.Cut(name, ": ")
		if !some {
			return k, fmt.Errorf("%q is no machine and reason", name)
		}
		k.folder = "cmd/internal/audit"
		k.run = "^TestAuditOfMachinesAsConfigured$/^" + strings.ReplaceAll(machine, " ", "_") + "$"
		k.says = regexp.MustCompile(regexp.QuoteMeta(reason))
	case byHistories:
		k.folder, k.run, k.name = "pipeline/pipetest/histories", "^TestHistories$", "TestHistories"
		k.args = []string{"-histories", historyCount, "-fast", "-timeout=20m"}
		k.says = regexp.MustCompile(`history \d+, seed \d+: [a-z ]+: |panic: |fatal error: `)
	default:
		return k, fmt.Errorf("no killer %q", m)
	}
	return k, nil
}

// top returns the name of the test without the names of subtests.
func (k killer) top() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(k.run, "^"), "$")
	return name
}

// equivalents is the name of the place with changes that no test can find.
const equivalents = "equivalent"

// read returns the places in the order of their files.
func read(t *testing.T) (places []place) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := parse(strings.TrimSuffix(filepath.Base(name), ".txt"), string(content))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		places = append(places, p)
	}
	return places
}

// parse parses a file: a heading, then faults separated by empty lines.
func parse(name, content string) (place, error) {
	says, rest, _ := strings.Cut(content, "\n\n## ")
	p := place{name: name, says: strings.TrimSpace(strings.TrimPrefix(says, "# "))}
	for block := range strings.SplitSeq(rest, "\n\n## ") {
		f, err := parseFault(strings.TrimRight(block, "\n"))
		if err != nil {
			return p, fmt.Errorf("%q: %w", f.breaks, err)
		}
		p.faults = append(p.faults, f)
	}
	return p, nil
}

// parseFault parses one fault: what it breaks, its fields, and its change.
func parseFault(block string) (f fault, err error) {
	var rest string
	f.breaks, rest, _ = strings.Cut(block, "\n")
	for line := range strings.Lines(rest + "\n") {
		switch line[0] {
		case ' ':
			f.text, f.other = f.text+line[1:], f.other+line[1:]
			continue
		case '-':
			f.text += line[1:]
			continue
		case '+':
			f.other += line[1:]
			continue
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case f.text != "" || f.other != "":
			return f, fmt.Errorf("%q stands behind the change", line)
		case field == "in":
			f.file = value
		case field == "because":
			f.because = value
		default:
			k, err := newKiller(mode(field), value)
			if err != nil {
				return f, err
			}
			f.killers = append(f.killers, k)
		}
	}
	if f.file == "" || f.text == f.other || (f.because == "") == (len(f.killers) == 0) {
		return f, fmt.Errorf("it has no file, changes nothing, or has not one of killer and argument")
	}
	return f, nil
}

// planted returns the file's content with the fault. The removed text must be whole lines that occur once in the file.
func (f fault) planted() ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(root, f.file))
	if err != nil {
		return nil, err
	}
	source := "\n" + string(content)
	if n := strings.Count(source, "\n"+f.text); n != 1 {
		return nil, fmt.Errorf("%s has the text of %q %d times", f.file, f.breaks, n)
	}
	return []byte(strings.Replace(source, "\n"+f.text, "\n"+f.other, 1)[1:]), nil
}
