package lint

import "strings"

// registry is the folder that names operators.
const registry = "cmd/internal/registry"

// algorithm returns the folder of the operator that holds a folder, or "". A folder below operators is an operator's
// unless it has a row of its own in the table of import direction, as packages that operators share have.
func algorithm(folder string) string {
	name, below := strings.CutPrefix(folder, "operators/")
	if !below {
		return ""
	}
	name, _, _ = strings.Cut(name, "/")
	if ruleOf("operators/"+name).folder != "operators" {
		return ""
	}
	return "operators/" + name
}

// readers are the packages that may import a package of an operator's: those that compute with what it has published,
// by functions of public numbers, and the constants that a paper prints for it.
var readers = map[string]string{
	"operators/coco":               "cmd/papers/internal/printed",
	"operators/bandit":             "cmd/papers/internal/printed",
	"operators/linucb":             "cmd/papers/internal/printed",
	"operators/aggregate/block":    "cmd/internal/numbers",
	"operators/aggregate/interval": "cmd/internal/numbers",
}

// refusedAlgorithm returns why code in from must not import an operator, or "". Only the registry imports operators:
// everything else knows operators.Definition and operators.Operator.
func refusedAlgorithm(from, to string) string {
	if of := algorithm(to); of != "" && from != registry && algorithm(from) != of && readers[to] != from {
		return "only " + registry + " names an operator; a package that operators share has a row of import direction"
	}
	return ""
}
