package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// termsFolder is the package of scopes and units of privacy. termsTypes lists its closed sets of types.
const termsFolder = "mechanisms/protection"

var termsTypes = []string{"Scope", "Unit"}

// asksTerms lists the functions, by folder, that may test for a particular scope or unit.
var asksTerms = []struct{ folder, function, reason string }{
	{"mechanisms", "of", "a row of a mechanism's table names the one scope it takes; one that no row names is refused"},
}

// CheckTerms reports code outside termsFolder that tests for a particular scope or unit, by an assertion, a switch or a
// comparison. Such code would ignore a scope that is added later.
func CheckTerms(p Typed) (found []Finding) {
	if p.Folder == termsFolder {
		return nil
	}
	for _, file := range p.Files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncDecl:
				for _, row := range asksTerms {
					if row.folder == p.Folder && row.function == n.Name.Name {
						return false
					}
				}
			case *ast.TypeAssertExpr: // type switches contain such an expression too
				found = p.asksWhich(found, n, n.X)
			case *ast.SwitchStmt:
				found = p.asksWhich(found, n, n.Tag)
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					found = p.asksWhich(found, n, n.X, n.Y)
				}
			}
			return true
		})
	}
	return found
}

// asksWhich adds a finding if one of the operands is a scope or a unit. A comparison with nil is allowed, because it
// asks only whether there is a value.
func (p Typed) asksWhich(found []Finding, node ast.Node, operands ...ast.Expr) []Finding {
	for _, x := range operands {
		if x != nil && p.Info.Types[x].IsNil() {
			return found
		}
	}
	for _, x := range operands {
		if name := termsName(p.Info.Types[x].Type); x != nil && name != "" {
			return append(found, Finding{p.place(node), fmt.Sprintf(
				"asks which %s.%s it has: add a method there, because a new one would pass this by", termsFolder, name)})
		}
	}
	return found
}

// termsName returns the name of a type if it is one of termsTypes, or "".
func termsName(t types.Type) string {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != Module+"/"+termsFolder {
		return ""
	}
	for _, name := range termsTypes {
		if named.Obj().Name() == name {
			return name
		}
	}
	return ""
}
