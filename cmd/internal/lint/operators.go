package lint

import "slices"

// algorithms are the operators: one row each, its folder under operators. There floats decide bytes, and no code but
// cmd/internal/families imports it: all else knows operators.Family and operators.Configured.
var algorithms = []string{
	"operators/aggregate",
	"operators/arms",
	"operators/bandit",
	"operators/coco",
	"operators/linucb",
	"operators/ridge",
	"operators/sets",
	"operators/submodular",
}

// registry is the folder that names operators.
const registry = "cmd/internal/families"

// refusedAlgorithm returns why code in from must not import an operator, or why from itself has no row; "" if nothing
// is wrong.
func refusedAlgorithm(from, to string) string {
	if within(from, "operators") && ruleOf(from).folder == "operators" && from != "operators" &&
		!withinAny(from, algorithms) {
		return "the folder of an operator has a row in the table of algorithms"
	}
	i := slices.IndexFunc(algorithms, func(folder string) bool { return within(to, folder) })
	if i >= 0 && from != registry && !within(from, algorithms[i]) {
		return "only " + registry + " names an operator"
	}
	return ""
}
