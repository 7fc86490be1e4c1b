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

// tiers is the only package that may determine the tier in which a test runs.
const tiers = "mechanisms/mechtest/tiertest"

// CheckTiers reads every test file, for any build, and reports tests that the default tier would lose. These are tests
// that skip by testing.Short or by a function of tiertest, that read the tier from the environment themselves, or that
// name a short form that is not a test of their package.
func CheckTiers(packages []Package) ([]Finding, error) {
	var found []Finding
	for _, p := range packages {
		if folder(p.ImportPath) == tiers {
			continue
		}
		fset := token.NewFileSet()
		var files []*ast.File
		tests := map[string]bool{}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles, p.IgnoredGoFiles) {
			if !strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("lint: %s: %w", p.ImportPath, err)
			}
			files = append(files, file)
			for _, declared := range file.Decls {
				if f, ok := declared.(*ast.FuncDecl); ok && f.Recv == nil {
					tests[f.Name.Name] = true
				}
			}
		}
		for _, file := range files {
			found = append(found, tiersIn(fset, file, tests)...)
		}
	}
	return found, nil
}

// tiersIn checks one file. tests are the test functions of its package.
func tiersIn(fset *token.FileSet, file *ast.File, tests map[string]bool) []Finding {
	var found []Finding
	report := func(at ast.Node, text string) {
		found = append(found, Finding{fset.Position(at.Pos()).String(), text})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			skips := calls(n.Body, "", "Skip") || calls(n.Body, "", "Skipf") || calls(n.Body, "", "SkipNow")
			if skips && calls(n.Cond, "tiertest", "Runs") {
				report(n, "skips by tiertest.Runs: give the test a short form, or name one to tiertest.Slow")
			}
		case *ast.CallExpr:
			switch {
			case calling(n, "testing", "Short"):
				report(n, "testing.Short: tiertest.Runs takes a short and a long form")
			case calling(n, "tiertest", "Slow"):
				if name, ok := literal(n, 1); !ok || !strings.HasPrefix(name, "Test") || !tests[name] {
					report(n, "tiertest.Slow names no test of this package as the short form")
				}
			case calling(n, "os", "Getenv"):
				if name, _ := literal(n, 0); name == "TEST_LONG" {
					report(n, "TEST_LONG: tiertest.Runs takes a short and a long form")
				}
			}
		}
		return true
	})
	return found
}

// calls reports whether a node contains a call of a package's function; if from is "", it matches any package or value.
func calls(within ast.Node, from, name string) (found bool) {
	ast.Inspect(within, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && calling(call, from, name)
		return !found
	})
	return found
}

// calling reports whether a call calls this function of this package.
func calling(call *ast.CallExpr, from, name string) bool {
	fun := call.Fun
	if generic, ok := fun.(*ast.IndexExpr); ok {
		fun = generic.X
	}
	selector, ok := fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	x, ok := selector.X.(*ast.Ident)
	return from == "" || ok && x.Name == from
}

// literal returns an argument of a call if it is a string literal.
func literal(call *ast.CallExpr, argument int) (string, bool) {
	if len(call.Args) <= argument {
		return "", false
	}
	value, ok := call.Args[argument].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	s, err := strconv.Unquote(value.Value)
	return s, err == nil
}
