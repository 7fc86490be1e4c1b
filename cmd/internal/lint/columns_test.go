package lint

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the largest length of a line; .golangci.yml has it for Go files.
const maxColumns = 120

// columnsIn finds long lines of Markdown. Tables, preformatted text and addresses may exceed the limit.
func columnsIn(name string, content []byte) []Finding {
	if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
		return nil
	}
	var found []Finding
	fenced := false
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") || strings.Contains(line, "://") {
			continue
		}
		if n := utf8.RuneCountInString(line); n > maxColumns {
			place := fmt.Sprintf("%s:%d", name, number)
			found = append(found, Finding{place, fmt.Sprintf("%d columns of text: wrap at %d", n, maxColumns)})
		}
	}
	return found
}

func TestColumnsIn(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for what, c := range map[string]struct {
		name, line string
		found      bool
	}{
		"prose":              {"pipeline/A.md", long(121), true},
		"prose that fits":    {"pipeline/A.md", long(120), false},
		"letters, not bytes": {"pipeline/A.md", strings.Repeat("é", 120), false},
		"an address":         {"pipeline/A.md", "see https://" + long(120), false},
		"a table":            {"pipeline/A.md", "|" + long(121), false},
		"a block":            {"pipeline/A.md", "```\n" + long(121) + "\n```", false},
		"a page of a test":   {"pipeline/testdata/A.md", long(121), false},
		"a file of data":     {"pipeline/a.csv", long(121), false},
	} {
		if got := columnsIn(c.name, []byte("first\n"+c.line+"\n")); (len(got) == 1) != c.found {
			t.Errorf("%s: %v", what, got)
		}
	}
}
