package lint

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxColumns is the largest length of a line.
const maxColumns = 120

// longText matches a quoted text of half a line or more. Such a text may exceed the limit, because a broken text cannot
// be found by a search.
var longText = regexp.MustCompile("`|\"[^\"]{60,}\"")

// columnsIn finds long lines. Tables, preformatted text, addresses and long quoted texts may exceed the limit.
func columnsIn(name string, content []byte) []Finding {
	extension := path.Ext(name)
	if extension != ".go" && extension != ".md" {
		return nil
	}
	if strings.Contains(name, "testdata/") || isGenerated(content) {
		return nil
	}
	var found []Finding
	fenced := false
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimLeft(line, "\t")
		what, held := "text", true
		if extension == ".md" {
			if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
				fenced = !fenced
			}
			if fenced || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") {
				continue
			}
		} else if !strings.HasPrefix(text, "//") {
			what, held = "code", len(line) <= maxColumns || !longText.MatchString(line) // no short line is too long
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
