package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxColumns is the length of a line.
const maxColumns = 120

// wrapped are the folders whose text keeps to maxColumns.
var wrapped = []string{
	"cmd/internal/eval", "cmd/internal/families", "cmd/internal/flights", "cmd/internal/settings", "cmd/oriel",
	"deploy/bench", "deploy/peers", "deploy/soak", "mechanisms/audit/bound", "mechanisms/audit/definition",
	"mechanisms/audit/given", "mechanisms/audit/residual", "mechanisms/buffer", "mechanisms/dp", "mechanisms/lattice",
	"mechanisms/mechtest", "mechanisms/mechtest/goldentest", "mechanisms/mechtest/sumtest", "mechanisms/noise",
	"mechanisms/once", "mechanisms/rational", "mechanisms/rational/fit", "mechanisms/windowtree", "operators",
	"operators/aggregate/block", "operators/aggregate/interval", "operators/coco", "operators/convex", "operators/loss",
	"operators/optest", "operators/pending", "pipeline", "pipeline/console", "pipeline/embedded", "pipeline/kafka",
	"pipeline/letters", "pipeline/metrics", "pipeline/pipetest", "pipeline/pipetest/storytest", "schemas", "schemas/table",
	"state", "state/users", "state/zstd",
}

// narrow are the folders whose code keeps to maxColumns as well.
var narrow = []string{
	"cmd/internal/eval", "cmd/internal/families", "cmd/internal/flights", "cmd/internal/settings", "cmd/oriel",
	"deploy/bench", "mechanisms/audit/bound", "mechanisms/audit/definition", "mechanisms/audit/residual",
	"mechanisms/buffer", "mechanisms/dp", "mechanisms/lattice", "mechanisms/mechtest", "mechanisms/mechtest/goldentest",
	"mechanisms/mechtest/sumtest", "mechanisms/once", "mechanisms/rational", "mechanisms/rational/fit",
	"mechanisms/windowtree", "operators", "operators/coco", "operators/convex", "operators/loss", "operators/optest",
	"operators/pending", "pipeline", "pipeline/console", "pipeline/embedded", "pipeline/letters", "pipeline/metrics",
	"schemas", "schemas/table", "state", "state/users", "state/zstd",
}

// longText is a text in quotes that takes half a line: it is not broken, so that it is found when somebody looks for it.
var longText = regexp.MustCompile("`|\"[^\"]{60,}\"")

// columnsIn finds long lines. Tables, what is set apart, addresses and texts that are not broken may be longer.
func columnsIn(name string, content []byte) []Finding {
	extension := path.Ext(name)
	if extension != ".go" && extension != ".md" {
		return nil
	}
	textToo, codeToo := slices.Contains(wrapped, path.Dir(name)), slices.Contains(narrow, path.Dir(name))
	var found []Finding
	fenced := false
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimLeft(line, "\t")
		what, held := "text", textToo
		if extension == ".md" {
			if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
				fenced = !fenced
			}
			if fenced || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") {
				continue
			}
		} else if !strings.HasPrefix(text, "//") {
			what, held = "code", codeToo && !longText.MatchString(line)
		} else if !strings.HasPrefix(text, "// ") || strings.HasPrefix(text, "//  ") {
			continue
		}
		if n := utf8.RuneCountInString(line); held && n > maxColumns && !strings.Contains(line, "://") {
			place := fmt.Sprintf("%s:%d", name, number)
			found = append(found, Finding{place, fmt.Sprintf("%d columns of %s: wrap at %d", n, what, maxColumns)})
		}
	}
	return found
}
