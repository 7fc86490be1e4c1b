package eval

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOnlyThisPackageSwitchesNoiseOff checks which packages can remove noise. Outside mechanisms and their tests, only
// this package and the auditor replace a plan's sums or its sampler. In cmd/oriel only eval and the demo use this
// package, and only the demo seeds a service.
func TestOnlyThisPackageSwitchesNoiseOff(t *testing.T) {
	const root = "../../.."
	uses := map[string][]string{} // files, by the name that they use
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		note := func(what string) {
			if !slices.Contains(uses[what], path) {
				uses[what] = append(uses[what], path)
			}
		}
		for _, i := range file.Imports {
			if strings.HasPrefix(i.Path.Value, `"oriel/cmd/internal/eval`) {
				note("eval")
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if n.Sel.Name == "SumsOver" || n.Sel.Name == "NewStream" {
					note(n.Sel.Name)
				}
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && (name.Name == "newSeeded" || name.Name == "withoutNoise") {
					note(name.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string][]string{
		"SumsOver": {"cmd/internal/eval/open.go", "mechanisms/", "cmd/internal/audit/", "operators/neighbours/"},
		"NewStream": {
			"cmd/internal/eval/open.go", "mechanisms/", "cmd/internal/audit/", "operators/optest/", "operators/neighbours/",
		},
		"withoutNoise": {"cmd/internal/eval/"},
		"eval":         {"cmd/oriel/eval", "cmd/internal/demo/", "cmd/internal/eval/"},
		"newSeeded":    {"cmd/internal/demo/"},
	} {
		if len(uses[what]) == 0 {
			t.Errorf("%s: nobody uses it: the test looks for something else than there is", what)
		}
		for _, file := range uses[what] {
			if !slices.ContainsFunc(want, func(allowed string) bool { return strings.HasPrefix(file, allowed) }) {
				t.Errorf("%s uses %s", file, what)
			}
		}
	}
}
