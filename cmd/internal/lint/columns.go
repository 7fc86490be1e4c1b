package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxColumns is the length of a line of text: of comments and of documents.
const maxColumns = 120

// wrapped are the folders whose text keeps to maxColumns.
var wrapped = []string{
	"cmd/internal/families", "cmd/internal/flights", "deploy/bench", "deploy/peers", "deploy/soak",
	"mechanisms/audit/bound", "mechanisms/audit/given", "mechanisms/noise",
	"mechanisms/once", "mechanisms/windowtree", "operators/aggregate/block",
	"operators/aggregate/interval",
	"operators/convex", "operators/optest", "operators/pending",
	"pipeline/console", "pipeline/embedded", "pipeline/kafka", "pipeline/letters", "pipeline/metrics",
	"pipeline/pipetest", "pipeline/pipetest/storytest", "schemas", "schemas/table", "state", "state/users", "state/zstd",
}

// columnsIn finds long lines of text. Code, tables, what is set apart and addresses may be longer.
func columnsIn(name string, content []byte) []Finding {
	extension := path.Ext(name)
	if !slices.Contains(wrapped, path.Dir(name)) || extension != ".go" && extension != ".md" {
		return nil
	}
	var found []Finding
	fenced := false
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimLeft(line, "\t")
		if extension == ".md" {
			if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
				fenced = !fenced
			}
			if fenced || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") {
				continue
			}
		} else if !strings.HasPrefix(text, "// ") || strings.HasPrefix(text, "//  ") {
			continue
		}
		if n := utf8.RuneCountInString(line); n > maxColumns && !strings.Contains(line, "://") {
			place := fmt.Sprintf("%s:%d", name, number)
			found = append(found, Finding{place, fmt.Sprintf("%d columns of text: wrap at %d", n, maxColumns)})
		}
	}
	return found
}
