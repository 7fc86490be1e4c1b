package lint

import (
	"errors"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// layoutFile ends with the tables of Layout, after the line layoutStart.
const (
	layoutFile  = ".github/CONTRIBUTING.md"
	layoutStart = "\n<!-- The rest is written from each doc.go by: go test ./cmd/internal/lint -rewrite -->\n"
)

// Layout returns tables of the folders of files, for newcomers: each package with the first sentence of its doc.go. The
// tables have no operators, because a new operator must be only a folder and a row of the registry.
func Layout(tree fs.FS, files []string) (string, error) {
	const tools = "test tools"
	rows := make(map[string]string)
	byFolder := func(a, b string) int { return strings.Compare(path.Dir(a), path.Dir(b)) }
	for _, name := range slices.SortedFunc(slices.Values(files), byFolder) {
		dir := path.Dir(name)
		if path.Base(name) != "doc.go" || strings.Contains(name, "testdata/") || algorithm(dir) == dir {
			continue
		}
		content, err := fs.ReadFile(tree, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // tracked, but deleted in the working tree
		}
		if err != nil {
			return "", fmt.Errorf("lint: %w", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return "", fmt.Errorf("lint: %w", err)
		}
		group := top(dir)
		if isTestHelper(dir) {
			group = tools
		}
		sentence := new(doc.Package).Synopsis(file.Doc.Text())
		words := strings.SplitN(strings.ReplaceAll(sentence, "|", `\|`), " ", 3) // Package name does …
		rows[group] += fmt.Sprintf("| `%s` | %s |\n", dir, strings.TrimSuffix(words[len(words)-1], "."))
	}
	text := ""
	for _, group := range []string{"cmd", "pipeline", "operators", "mechanisms", "state", "schemas", "deploy", tools} {
		text += "\n### " + group + "\n\n| folder | contents |\n|---|---|\n" + rows[group]
	}
	return text, nil
}
