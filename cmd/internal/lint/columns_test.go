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
		"a comment that fits":          {narrow[0] + "/a.go", "// " + long(117), false},
		"a long comment":               {narrow[0] + "/a.go", "// " + long(118), true},
		"letters, not bytes":           {narrow[0] + "/a.go", "// " + strings.Repeat("é", 117), false},
		"set apart":                    {narrow[0] + "/a.go", "//\t" + long(120), false},
		"an address":                   {narrow[0] + "/a.go", "// https://" + long(120), false},
		"long code":                    {narrow[0] + "/a.go", "\t" + long(120), true},
		"code that fits":               {narrow[0] + "/a.go", "\t" + long(119), false},
		"code beside a long text":      {narrow[0] + "/a.go", `fmt.Println("` + long(110) + `")`, false},
		"code beside a short text":     {narrow[0] + "/a.go", `fmt.Println("x", ` + long(110) + `)`, true},
		"code where text alone counts": {"deploy/soak/a.go", "\t" + long(120), false},
		"a folder that is not named":   {"elsewhere/a.go", "// " + long(120), false},
		"prose":                        {narrow[0] + "/A.md", long(121), true},
		"a table":                      {narrow[0] + "/A.md", "|" + long(121), false},
		"a file of data":               {narrow[0] + "/a.csv", long(121), false},
	} {
		if got := columnsIn(c.name, []byte("first\n"+c.line+"\n")); (len(got) == 1) != c.found {
			t.Errorf("%s: %v", what, got)
		}
	}
}
