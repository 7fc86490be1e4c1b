package lint

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

// topLevel lists the entries that the module's root may have.
var topLevel = []string{
	"README.md", "LICENSE", "go.mod", "go.sum",
	"cmd", "pipeline", "operators", "mechanisms", "state", "schemas", "deploy",
	".ci", ".github", ".gitattributes", ".gitignore", ".dockerignore", ".golangci.yml",
}

// maxLines is the limit on the length of a Go file; we aim at 300.
const maxLines = 500

// unwanted lists words that must not appear in tracked text. Every match contains one of the row's parts, because a
// search for parts is much faster. The words are assembled at run time, so that this file does not contain them.
var unwanted = []struct {
	parts   []string
	pattern *regexp.Regexp
	reason  string
}{
	{
		[]string{"TO" + "DO", "FIX" + "ME", "XX" + "X"},
		regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`), "what is left to do is an issue, not a comment",
	},
	{
		[]string{"/wo" + "rk/", "/ro" + "ot/", "/tmp/" + "w/", "/home/"},
		regexp.MustCompile(`(^|[^\w.$}-])/(wo` + `rk|ro` + `ot|tmp/` + `w|home/[a-z]+)/`), "a path of one machine",
	},
	{
		[]string{"gol" + "ang.org", "maven.", "deb" + "ian.org", "pyp" + "i.org", "npm" + "js.org"},
		regexp.MustCompile(`(proxy|sum)\.gol` + `ang\.org|repo1?\.maven\.(apache\.)?org|deb\.deb` + `ian\.org|pyp` + `i\.org|registry\.npm` + `js\.org`),
		"the host of a package registry",
	},
	{[]string{"shared/des" + "ign"}, regexp.MustCompile(`shared/des` + `ign`), "a document that is not in the repository"},
	{[]string{"<<<<" + "<<<", ">>>>" + ">>>"}, regexp.MustCompile(`(?m)^(<{7}|>{7})( |\r?$)`), "an unresolved merge"},
}

// notText lists endings of files whose lines are not checked: data and lock files that nobody writes by hand.
var notText = []string{".sum", ".csv", ".gz", ".zst", ".png", ".svg", ".ndjson", ".bin", ".jar"}

// Tracked lists the files of the working tree that git tracks or would track.
func Tracked(root string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("lint: git ls-files: %w", err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(files)
	return slices.Compact(files), nil
}

// CheckTree checks top-level entries, that each package has a doc.go with its comment, the length of Go files and of
// their comments' lines, and unwanted words.
func CheckTree(tree fs.FS, files []string) ([]Finding, error) {
	var found []Finding
	packages := make(map[string]bool)
	for _, name := range files {
		if entry := top(name); !slices.Contains(topLevel, entry) {
			found = append(found, Finding{name, "the top level is fixed: " + strings.Join(topLevel, " ")})
		}
		content, err := fs.ReadFile(tree, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // tracked, but deleted in the working tree
		}
		if err != nil {
			return nil, fmt.Errorf("lint: %w", err)
		}
		if path.Ext(name) == ".go" && !strings.Contains(name, "testdata/") {
			packages[path.Dir(name)] = true
			if lines := bytes.Count(content, []byte("\n")); lines >= maxLines && !isGenerated(content) {
				found = append(found, Finding{name, fmt.Sprintf("%d lines: split before %d", lines, maxLines)})
			}
		}
		if !slices.Contains(notText, path.Ext(name)) && !strings.Contains(name, "testdata/fuzz/") {
			found = append(found, wordsIn(name, content)...)
			found = append(found, columnsIn(name, content)...)
			found = append(found, sentencesIn(name, content)...)
		}
	}
	for dir := range packages {
		found = append(found, docOf(tree, dir)...)
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Place, b.Place) })
	return found, nil
}

func wordsIn(name string, content []byte) []Finding {
	var found []Finding
	if bytes.IndexByte(content, 0) >= 0 {
		return nil // a binary file
	}
	for _, word := range unwanted {
		if !slices.ContainsFunc(word.parts, func(part string) bool { return bytes.Contains(content, []byte(part)) }) {
			continue
		}
		number := 0
		for line := range bytes.Lines(content) {
			number++
			if at := word.pattern.Find(bytes.TrimRight(line, "\r\n")); at != nil {
				found = append(found, Finding{fmt.Sprintf("%s:%d", name, number), fmt.Sprintf("%q: %s", at, word.reason)})
			}
		}
	}
	return found
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func isGenerated(content []byte) bool {
	return bytes.Contains(content, []byte("// Code generated ")) && generated.Match(content)
}

// docOf checks that a package's comment is in doc.go and only there, and that it names the package.
func docOf(tree fs.FS, dir string) []Finding {
	name := path.Join(dir, "doc.go")
	content, err := fs.ReadFile(tree, name)
	if err != nil {
		return []Finding{{dir, "has no doc.go: a package says what it is, guarantees, costs and expects"}}
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return []Finding{{name, "does not parse"}}
	}
	if text := file.Doc.Text(); !startsAsDoc(text, file.Name, path.Base(dir)) {
		return []Finding{{name, fmt.Sprintf("its comment must touch the package clause and start with %q",
			"Package "+file.Name.Name)}}
	}
	return nil
}

func startsAsDoc(text string, name *ast.Ident, dir string) bool {
	if name.Name == "main" {
		return strings.HasPrefix(text, "Command "+dir) || strings.HasPrefix(strings.ToLower(text), dir+" ")
	}
	return strings.HasPrefix(text, "Package "+name.Name+" ")
}
