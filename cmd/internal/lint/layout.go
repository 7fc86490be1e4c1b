package lint

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// layoutFile has the table of folders under layoutHeading; quoted matches a name in it.
const (
	layoutFile    = ".github/CONTRIBUTING.md"
	layoutHeading = "\n## Layout\n"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// CheckLayout checks the table of folders: each package stands in it, by its folder or by what that is below
// the folder of the row, and each folder of a row is one of a package. Newcomers read that table first; what it leaves
// out they find last. Operators may be left out: the registry lists them.
func CheckLayout(tree fs.FS, files []string) ([]Finding, error) {
	content, err := fs.ReadFile(tree, layoutFile)
	if err != nil {
		return nil, fmt.Errorf("lint: %w", err)
	}
	_, table, found := strings.Cut(string(content), layoutHeading)
	if !found {
		return []Finding{{layoutFile, "has no Layout"}}, nil
	}
	var packages []string
	for _, name := range files {
		if path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "testdata/") {
			packages = append(packages, path.Dir(name))
		}
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	listed := map[string]bool{}
	var findings []Finding
	for line := range strings.Lines(table) {
		names := quoted.FindAllStringSubmatch(line, -1)
		if !strings.HasPrefix(line, "|") || len(names) == 0 {
			continue
		}
		folder := names[0][1]
		listed[folder] = true
		if !slices.ContainsFunc(packages, func(p string) bool { return within(p, folder) }) {
			findings = append(findings, Finding{layoutFile, "Layout has `" + folder + "`, and there is no package"})
		}
		for _, name := range names[1:] {
			listed[path.Join(folder, name[1])] = true
		}
	}
	for _, p := range packages {
		if !listed[p] && algorithm(p) != p {
			findings = append(findings, Finding{layoutFile, "Layout lacks `" + p + "`: its first reader looks there"})
		}
	}
	return findings, nil
}
