package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// termsTypes lists closed sets of scopes and units of privacy, and of kinds of mechanisms, each with its folder.
var termsTypes = []struct{ folder, name string }{
	{"mechanisms/protection", "Scope"}, {"mechanisms/protection", "Unit"}, {"mechanisms", "Structure"},
}

// asksTerms lists the functions, by folder, that may test for a particular scope or unit.
var asksTerms = []struct{ folder, function, reason string }{
	{"mechanisms", "of", "a row of a mechanism's table names the one scope it takes; one that no row names is refused"},
}

// CheckTerms reports code outside the folder of a closed set that tests for a particular value, by an assertion, a
// switch or a comparison. Such code would ignore a value that is added later.
func CheckTerms(p Typed) (found []Finding) {
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

// asksWhich adds a finding if one of the operands is of termsTypes. A comparison with nil is allowed, because it
// asks only whether there is a value.
func (p Typed) asksWhich(found []Finding, node ast.Node, operands ...ast.Expr) []Finding {
	for _, x := range operands {
		if x != nil && p.Info.Types[x].IsNil() {
			return found
		}
	}
	for _, x := range operands {
		folder, name := termsName(p.Info.Types[x].Type)
		if x != nil && name != "" && folder != p.Folder {
			return append(found, Finding{p.place(node), fmt.Sprintf(
				"asks which %s.%s it has: add a method there, because a new one would pass this by", folder, name)})
		}
	}
	return found
}

// termsName returns the folder and the name of a type if it is one of termsTypes, or "".
func termsName(t types.Type) (folder, name string) {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return "", ""
	}
	for _, row := range termsTypes {
		if named.Obj().Pkg().Path() == Module+"/"+row.folder && named.Obj().Name() == row.name {
			return row.folder, row.name
		}
	}
	return "", ""
}
