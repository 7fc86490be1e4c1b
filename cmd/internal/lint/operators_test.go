package lint

import "strings"

// registry is the folder that names operators.
const registry = "cmd/internal/registry"

// algorithm returns the operator's folder that contains a folder, or "" if no operator does. A folder below operators
// belongs to an operator, unless it has a row of its own in the table direction, as the packages that operators share
// have.
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

// readers lists packages that may import the package of an operator. They compute with the operator's public
// numbers.
var readers = map[string]string{
	"operators/aggregate/block":    "cmd/internal/numbers",
	"operators/aggregate/interval": "cmd/internal/numbers",
}

// refusedAlgorithm returns why code in the folder from must not import an operator, or "" if it may. Only the registry
// may import operators; all other code uses operators.Definition and operators.Operator.
func refusedAlgorithm(from, to string) string {
	if of := algorithm(to); of != "" && from != registry && algorithm(from) != of && readers[to] != from {
		return "only " + registry + " names an operator; a package that operators share has a row of import direction"
	}
	return ""
}
