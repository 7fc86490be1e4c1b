package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// decidesBytes lists the folders in which a float can reach a decision, a state or a hash. Their arithmetic must be the
// same on every CPU.
var decidesBytes = []string{
	"mechanisms", "mechanisms/blt", "mechanisms/buffer", "mechanisms/contribution", "mechanisms/decay",
	"mechanisms/lattice", "mechanisms/names", "mechanisms/noise", "mechanisms/perstep", "mechanisms/rational",
	"mechanisms/windowtree",
	"operators", "operators/aggregate/block", "operators/aggregate/dimension", "operators/aggregate/interval",
	"operators/aggregate/trial", "operators/coco/band", "operators/convex", "operators/convex/ball",
	"operators/convex/catalogue",
	"operators/convex/choice", "operators/convex/graph", "operators/convex/hull", "operators/convex/oracle",
	"operators/convex/shape", "operators/description", "operators/elementary", "operators/experiment",
	"operators/loss", "operators/moments", "operators/actions", "operators/setting",
	"schemas/avro", "schemas/decision", "schemas/event", "schemas/mapping", "schemas/mapping/calendar",
	"schemas/protobuf", "schemas/text",
}

// frozen lists files in the folders of decidesBytes whose floats reach bytes only through a plan that is computed once
// and stored.
var frozen = []struct{ file, reason string }{
	{"mechanisms/calibrate.go", "noise scales and error bounds are computed when a stream is opened, rounded up, stored in its calibration and read back ever after"},
	{"mechanisms/blt/freeze.go", "poles and residues are fitted when a stream is opened, rounded to dyadics, stored in its calibration and read back ever after"},
	{"mechanisms/blt/optimum.go", "the least variance there is, a figure for people"},
	{"mechanisms/decay/freeze.go", "poles and residues are fitted when a stream is opened, rounded to dyadics, stored in its calibration and read back ever after"},
	{"mechanisms/decay/optimum.go", "the least variance there is, a figure for people"},
	{"operators/arms/bound.go", "a bound on regret, a figure for people"},
	{"operators/bandit/bound.go", "a bound on regret, a figure for people"},
	{"operators/bandit/params.go", "the paper's constants are computed when a stream is opened, stored in its params and read back ever after"},
	{"operators/submodular/places.go", "the value of each place to events is computed when a stream is opened, rounded to 2^-20, stored in its params and read back ever after"},
	{"operators/submodular/bound.go", "a bound on regret, a figure for people"},
	{"operators/submodular/operator.go", "figures for people, and the bound of a grid that params store"},
	{"operators/sets/rates.go", "rates are computed when a stream is opened, stored in its params and read back ever after; and figures for people"},
	{"operators/linucb/bound.go", "a bound on regret, a figure for people"},
}

// exactMath lists the functions of math that are exact or correctly rounded, and therefore equal on every CPU. The
// constants of math are always allowed.
var exactMath = []string{
	"Sqrt", "Abs", "Floor", "Ceil", "Trunc", "Copysign", "Inf", "IsInf", "IsNaN", "NaN", "Signbit",
	"Float64bits", "Float64frombits", "Float32bits", "Float32frombits",
}

// CheckArithmetic reports, in packages that decide bytes:
//   - a product of floats that is not itself converted by float64(…). Go may fuse x*y with a later + or -, even if the product was assigned or
//     returned before (language specification, "Floating-point operators"). Products that are factors, compared, converted to an integer, or
//     under math.Sqrt are allowed, because they are rounded before any sum. So is x/2, which a compiler may turn into x*0.5: it is exact
//     either way unless subnormal;
//   - complex arithmetic, whose products cannot be written apart;
//   - a function of math that is not in exactMath, because per-CPU assembly differs in the last bit;
//   - gonum, which sums in another order on some CPUs;
//   - ranging over a map or its maps iterators (unless sorted at once), select and goroutines, because their order is random.
func CheckArithmetic(p Typed) []Finding {
	if !slices.Contains(decidesBytes, p.Folder) && algorithm(p.Folder) != p.Folder {
		return nil
	}
	var found []Finding
	for _, file := range p.Files {
		name := p.Folder + "/" + filepath.Base(p.Fset.Position(file.Pos()).Filename)
		if isFrozen(name) {
			continue
		}
		found = append(found, arithmeticIn(p, file)...)
	}
	return found
}

func isFrozen(name string) bool {
	for _, row := range frozen {
		if row.file == name {
			return true
		}
	}
	return false
}

func arithmeticIn(p Typed, file *ast.File) []Finding {
	var found []Finding
	report := func(node ast.Node, format string, args ...any) {
		found = append(found, Finding{p.place(node), fmt.Sprintf(format, args...)})
	}
	var stack []ast.Node // the nodes from the file down to the current node
	ast.Inspect(file, func(node ast.Node) bool {
		if node == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		switch n := node.(type) {
		case *ast.BinaryExpr:
			switch {
			case p.isComplex(n):
				report(n, "complex arithmetic: its products cannot be rounded apart")
			case n.Op == token.MUL && p.isFloat(n) && !p.rounded(n, stack):
				report(n, "a float product that a later + or - may fuse with: write float64(a*b)")
			}
		case *ast.AssignStmt:
			if n.Tok == token.MUL_ASSIGN && p.isFloat(n.Lhs[0]) {
				report(n, "x *= y leaves a product that a later + or - may fuse with: write x = float64(x*y)")
			}
		case *ast.SelectorExpr:
			if f, ok := p.Info.Uses[n.Sel].(*types.Func); ok && f.Pkg() != nil {
				switch from := f.Pkg().Path(); {
				case within(from, "gonum.org/v1/gonum"):
					report(n, "gonum sums in another order on some CPUs")
				case from == "math":
					if !slices.Contains(exactMath, f.Name()) {
						report(n, "math.%s differs between CPUs in the last bit, or is not proved not to", f.Name())
					}
				case from == "math/cmplx":
					report(n, "math/cmplx differs between CPUs")
				case from == "maps":
					if slices.Contains([]string{"All", "Keys", "Values"}, f.Name()) && !p.sorted(stack) {
						report(n, "maps.%s in random order: sort it at once by slices.Sorted", f.Name())
					}
				}
			}
		case *ast.RangeStmt:
			if t := p.Info.TypeOf(n.X); t != nil && is[*types.Map](t) {
				report(n, "range over a map in random order")
			}
		case *ast.SelectStmt:
			report(n, "select chooses at random")
		case *ast.GoStmt:
			report(n, "a goroutine's order is the scheduler's")
		}
		stack = append(stack, node)
		return true
	})
	return found
}

// rounded reports whether the float product at the end of stack is rounded before it can enter a sum.
func (p Typed) rounded(product ast.Expr, stack []ast.Node) bool {
	if p.Info.Types[product].Value != nil {
		return true // a constant is computed exactly
	}
	var child ast.Node = product
	for _, node := range slices.Backward(stack) {
		switch n := node.(type) {
		case *ast.ParenExpr:
		case *ast.UnaryExpr:
			if n.Op != token.SUB && n.Op != token.ADD {
				return false
			}
		case *ast.BinaryExpr:
			switch n.Op {
			case token.MUL, token.QUO, token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				return true // the next operation rounds the product, and is checked itself; a comparison ends the expression
			default:
				return false
			}
		case *ast.CallExpr:
			if p.Info.Types[n.Fun].IsType() {
				return true // a conversion to a float type rounds the product; one to an integer type ends the expression
			}
			f, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			if !ok || child == n.Fun {
				return false
			}
			called, ok := p.Info.Uses[f.Sel].(*types.Func)
			return ok && called.Pkg() != nil && called.Pkg().Path() == "math" && called.Name() == "Sqrt"
		default:
			return false
		}
		child = node
	}
	return false
}

// sorted reports whether the value at the end of stack is an argument of a call that sorts it. A call that is the node
// itself does not count.
func (p Typed) sorted(stack []ast.Node) bool {
	calls := 0
	for _, node := range slices.Backward(stack) {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			if _, isExpr := node.(ast.Expr); !isExpr {
				return false
			}
			continue
		}
		if calls++; calls == 2 {
			f, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok {
				return false
			}
			called, ok := p.Info.Uses[f.Sel].(*types.Func)
			return ok && called.Pkg() != nil && called.Pkg().Path() == "slices" && strings.HasPrefix(called.Name(), "Sorted")
		}
	}
	return false
}

func (p Typed) isFloat(e ast.Expr) bool   { return p.hasInfo(e, types.IsFloat) }
func (p Typed) isComplex(e ast.Expr) bool { return p.hasInfo(e, types.IsComplex) }

// hasInfo reports whether an expression's type, or any type in its type parameter's constraint, has the property. It
// returns false for constants.
func (p Typed) hasInfo(e ast.Expr, property types.BasicInfo) bool {
	tv := p.Info.Types[e]
	if tv.Type == nil || tv.Value != nil {
		return false
	}
	if basic, ok := tv.Type.Underlying().(*types.Basic); ok {
		return basic.Info()&property != 0
	}
	parameter, ok := tv.Type.(*types.TypeParam)
	if !ok {
		return false
	}
	constraint, ok := parameter.Constraint().Underlying().(*types.Interface)
	for i := 0; ok && i < constraint.NumEmbeddeds(); i++ {
		union, isUnion := constraint.EmbeddedType(i).(*types.Union)
		for j := 0; isUnion && j < union.Len(); j++ {
			if basic, isBasic := union.Term(j).Type().Underlying().(*types.Basic); isBasic && basic.Info()&property != 0 {
				return true
			}
		}
	}
	return false
}

func is[T types.Type](t types.Type) bool {
	_, ok := t.Underlying().(T)
	return ok
}
