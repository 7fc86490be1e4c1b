package lint

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w*)\(`)
	named    = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z0-9]\w*`)
	selected = regexp.MustCompile(`-run '?([A-Z][\w|\\]*)`)
)

// CheckEvidence checks the tests that a text names. Each must be a function of some test file, and each alternative of
// a -run pattern must select one. Otherwise a proof that cites a deleted test would have no evidence.
func CheckEvidence(tree fs.FS, files []string) ([]Finding, error) {
	tests, texts := map[string]bool{}, map[string][]byte{}
	for _, name := range files {
		text := path.Ext(name) == ".md"
		if !text && !strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := fs.ReadFile(tree, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // tracked, but deleted in the working tree
		}
		if err != nil {
			return nil, fmt.Errorf("lint: %w", err)
		}
		if text {
			texts[name] = content
			continue
		}
		for _, found := range declared.FindAllSubmatch(content, -1) {
			tests[string(found[1])] = true
		}
	}
	selects := func(part string) bool {
		for name := range tests {
			if strings.Contains(name, part) {
				return true
			}
		}
		return false
	}
	var found []Finding
	for _, name := range files {
		number := 0
		for line := range bytes.Lines(texts[name]) {
			number++
			var missing []string
			for _, test := range named.FindAllString(string(line), -1) {
				if !tests[test] {
					missing = append(missing, test)
				}
			}
			for _, pattern := range selected.FindAllStringSubmatch(string(line), -1) {
				missing = append(missing, slices.DeleteFunc(strings.FieldsFunc(pattern[1], func(r rune) bool {
					return r == '|' || r == '\\' // separators of cells and escapes in Markdown tables
				}), selects)...)
			}
			for _, test := range missing {
				found = append(found, Finding{
					fmt.Sprintf("%s:%d", name, number),
					fmt.Sprintf("names %s, and there is no such test", test),
				})
			}
		}
	}
	return found, nil
}
