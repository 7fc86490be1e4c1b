package lint

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// layoutFile has the table of folders, under layoutHeading; quoted matches a folder's name in it.
const (
	layoutFile    = ".github/CONTRIBUTING.md"
	layoutHeading = "\n## Layout\n"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// CheckLayout checks the table of folders. Each package must be in it: by its own row, or in the row of a folder above
// by its remaining path. Each folder that a row names must be the folder of a package. Newcomers read this table first,
// and miss what it omits. Operators may be missing, because the registry lists them.
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
