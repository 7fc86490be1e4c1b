package lint

import (
	"fmt"
	"path"
	"strings"
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
