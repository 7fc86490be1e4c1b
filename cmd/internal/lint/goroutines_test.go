package lint

import (
	"go/ast"
	"strings"
)

// goroutines lists the folders that may start a goroutine; they must wait for its end.
var goroutines = []string{"pipeline", "cmd"}

// CheckGoroutines reports goroutines that a package outside these folders starts. It ignores test helpers.
func CheckGoroutines(p Typed) (found []Finding) {
	if withinAny(p.Folder, goroutines) || isTestHelper(p.Folder) {
		return nil
	}
	for _, file := range p.Files {
		ast.Inspect(file, func(node ast.Node) bool {
			if _, ok := node.(*ast.GoStmt); ok {
				found = append(found, Finding{p.place(node), "starts a goroutine: only " +
					strings.Join(goroutines, ", ") + " do, and wait for each"})
			}
			return true
		})
	}
	return found
}
