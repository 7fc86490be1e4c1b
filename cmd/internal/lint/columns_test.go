package lint

import (
	"strings"
	"testing"
)

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
