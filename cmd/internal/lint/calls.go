package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// reserved lists functions of the standard library that only some folders may call. Tests are excepted.
var reserved = []struct {
	path    string
	names   []string
	folders []string
	reason  string
}{
	{
		"os",
		[]string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv"},
		[]string{"cmd", "deploy/bench"},
		"only cmd reads the environment",
	},
	{"syscall", []string{"Getenv", "Environ", "Setenv"}, []string{"cmd"}, "only cmd reads the environment"},
	{"os", []string{"Exit"}, []string{"cmd", "deploy/bench", "deploy/peers"}, "only cmd exits"},
	{
		"os",
		[]string{"Stdout", "Stderr", "Stdin"},
		[]string{"cmd", "deploy/bench", "deploy/peers"},
		"only cmd has standard streams",
	},
	{
		"log",
		[]string{"Fatal", "Fatalf", "Fatalln", "Print", "Printf", "Println"},
		nil,
		"logging is log/slog with a logger that is an argument",
	},
	{"fmt", []string{"Print", "Printf", "Println"}, []string{"cmd", "deploy/bench", "deploy/peers"}, "only cmd prints"},
}

// Reasons in the rows of scarce.
const (
	namesMembers   = "it names members of events, for people who may read the input"
	printsOfPapers = "no service has what papers print"
)

// scarce lists names of this module that only some folders may use. Some are methods whose results name members of
// events, for people who may read the input. The others are functions that give operators the constants of papers.
var scarce = []struct {
	names   []string
	folders []string
	reason  string
}{
	{
		[]string{"Explain", "Problem"},
		[]string{
			"schemas", "cmd/oriel", "cmd/internal/setup", "cmd/internal/eval", "cmd/internal/doctor",
			"pipeline/deadletters",
		},
		namesMembers,
	},
	{[]string{"AppendOwn"}, []string{"schemas", "cmd/internal/setup", "cmd/internal/traps"}, namesMembers},
	{[]string{"See"}, []string{"cmd/internal/traps", "cmd/oriel"}, namesMembers},
	{[]string{"ForPapers"}, []string{"cmd/papers", "operators"}, printsOfPapers},
	{[]string{"LoadOf"}, []string{"cmd/papers"}, printsOfPapers},
}

// goroutines lists the folders that may start a goroutine; they must wait for its end.
var goroutines = []string{"pipeline", "cmd", "deploy/bench"}

// CheckCalls parses every non-test file of the packages, for any build, and reports calls of reserved functions,
// printing builtins and goroutines. It ignores test helpers and generators.
func CheckCalls(packages []Package) ([]Finding, error) {
	var found []Finding
	for _, p := range packages {
		if isTestHelper(folder(p.ImportPath)) || isGenerator(folder(p.ImportPath)) {
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("lint: %s: %w", p.ImportPath, err)
			}
			found = append(found, callsIn(fset, file, folder(p.ImportPath))...)
		}
	}
	return found, nil
}

func callsIn(fset *token.FileSet, file *ast.File, dir string) []Finding {
	var found []Finding
	report := func(node ast.Node, format string, args ...any) {
		at := fset.Position(node.Pos())
		place := fmt.Sprintf("%s:%d", filepath.ToSlash(filepath.Join(dir, filepath.Base(at.Filename))), at.Line)
		found = append(found, Finding{place, fmt.Sprintf(format, args...)})
	}
	imported := importNames(file)
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.GoStmt:
			if !withinAny(dir, goroutines) {
				report(n, "starts a goroutine: only pipeline and cmd do, and wait for each")
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				report(n, "calls %s: it writes to standard error", f.Name)
			}
		case *ast.SelectorExpr:
			for _, rule := range scarce {
				if slices.Contains(rule.names, n.Sel.Name) && !withinAny(dir, rule.folders) {
					report(n, "uses %s: %s", n.Sel.Name, rule.reason)
				}
			}
			x, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			for _, rule := range reserved {
				if imported[x.Name] == rule.path && slices.Contains(rule.names, n.Sel.Name) && !withinAny(dir, rule.folders) {
					report(n, "uses %s.%s: %s", rule.path, n.Sel.Name, rule.reason)
				}
			}
		}
		return true
	})
	return found
}

// importNames maps the names of a file's imports to their paths. It assumes that a package is named after the last
// element of its path, as in the standard library.
func importNames(file *ast.File) map[string]string {
	names := make(map[string]string)
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := importPath[strings.LastIndex(importPath, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = importPath
	}
	return names
}
