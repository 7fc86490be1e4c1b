package lint

import (
	"go/ast"
	"go/types"
)

// CheckMembers reports code of operators that reaches a member of a decision by its place, or declares one without
// operators.Members. A wrong place publishes one number under the name of another.
func CheckMembers(p Typed) []Finding {
	if algorithm(p.Folder) == "" {
		return nil
	}
	return membersIn(p)
}

func membersIn(p Typed) (found []Finding) {
	for _, file := range p.Files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.IndexExpr:
				if isMembers(p.Info.Types[n.X].Type) {
					found = append(found, Finding{p.place(n), "a member by its place: use the handle of its declaration"})
				}
			case *ast.CompositeLit:
				if isMembers(p.Info.Types[n].Type) {
					found = append(found, Finding{p.place(n), "members without a handle: declare them by operators.Members"})
				}
			}
			return true
		})
	}
	return found
}

// isMembers reports whether a type is a list of members or of their values.
func isMembers(t types.Type) bool {
	if t == nil {
		return false
	}
	list, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	named, ok := list.Elem().(*types.Named)
	if !ok || named.Obj().Pkg() == nil || !within(named.Obj().Pkg().Path(), Module+"/schemas") {
		return false
	}
	return named.Obj().Name() == "Extra" || named.Obj().Name() == "ExtraValue"
}
