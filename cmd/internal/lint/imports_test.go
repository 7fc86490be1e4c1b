package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// rule is a row of the table direction.
type rule struct {
	folder  string
	imports []string
	reason  string
}

// direction lists the folders of this module that a folder may import: its own subfolders, and the listed folders with
// their subfolders ("=x" means x without its subfolders). The first row that contains the folder counts. A row also
// covers the folder's subfolders, but does not let them import each other.
var direction = []rule{
	{"cmd/internal/lint", nil, "the structure tests read every package and belong to none"},
	{"cmd", []string{"cmd", "pipeline", "operators", "mechanisms", "state", "schemas"}, "cmd wires everything"},
	{
		"deploy",
		[]string{"deploy", "cmd", "pipeline", "operators", "mechanisms", "state", "schemas"},
		"deploy measures and checks everything",
	},
	{"pipeline/kafka", []string{"pipeline"}, "Kafka code sees bytes and offsets, never events, gradients or state"},
	{"pipeline/embedded", []string{"pipeline"}, "the embedded broker knows Kafka alone"},
	{
		"pipeline/notice",
		[]string{"pipeline/kafka", "mechanisms/protection", "schemas/decision", "state"},
		"what is said knows nothing of who says it",
	},
	{
		"pipeline/deployment",
		[]string{"pipeline/notice", "pipeline/kafka", "state"},
		"topics and their checks know no stream",
	},
	{
		"pipeline/order",
		[]string{"pipeline/kafka", "state"},
		"the order of the input follows from ends of its partitions alone",
	},
	{
		"pipeline/merge",
		[]string{"pipeline/deployment", "pipeline/order", "pipeline/kafka", "state"},
		"what is read next follows from the order log and from sizes",
	},
	{
		"pipeline/streams",
		[]string{"pipeline/kafka", "operators", "mechanisms", "schemas", "state"},
		"the walk of records is pure: no topic, no error that a person reads",
	},
	{
		"pipeline/changelog",
		[]string{
			"pipeline/notice", "pipeline/deployment", "pipeline/order", "pipeline/streams", "pipeline/kafka",
			"schemas/decision", "state",
		},
		"the log is read below those who continue it",
	},
	{
		"pipeline/transaction",
		[]string{
			"pipeline/notice", "pipeline/deployment", "pipeline/streams", "pipeline/changelog", "pipeline/kafka", "schemas",
			"state",
		},
		"a transaction knows nothing of take-over",
	},
	{
		"pipeline/takeover",
		[]string{
			"pipeline/notice", "pipeline/deployment", "pipeline/order", "pipeline/merge", "pipeline/streams",
			"pipeline/changelog", "pipeline/transaction", "pipeline/kafka", "=operators", "=mechanisms/steps", "schemas",
			"state",
		},
		"take-over returns data: the service commits; of mechanisms it needs the clock of steps alone, to judge an outage",
	},
	{
		"pipeline/userindex",
		[]string{
			"pipeline/notice", "pipeline/deployment", "pipeline/streams", "pipeline/changelog", "pipeline/kafka", "state",
		},
		"which users partitions remember is read from their states",
	},
	{
		"pipeline/replay",
		[]string{
			"pipeline/notice", "pipeline/deployment", "pipeline/merge", "pipeline/streams", "pipeline/changelog",
			"pipeline/kafka", "schemas", "state",
		},
		"a replay writes nothing",
	},
	{
		"pipeline/metrics",
		[]string{"pipeline", "mechanisms/dp", "mechanisms/protection", "schemas/decision"},
		"metrics see what a listener is told: counts, times, and what is published",
	},
	{"pipeline/console", []string{"pipeline", "mechanisms/dp"}, "HTTP shows what is public"},
	{
		"pipeline/deadletters",
		[]string{"pipeline/notice", "pipeline/deployment", "pipeline/changelog", "pipeline/kafka", "state", "schemas"},
		"letters open what the service has sealed, and know no algorithm",
	},
	{
		"pipeline/pipetest",
		[]string{"pipeline", "operators", "mechanisms", "state", "schemas"},
		"test helpers may see the layers below",
	},
	{"pipeline", []string{"operators", "mechanisms", "state", "schemas"}, "pipeline drives the layers below"},
	{
		"operators/optest",
		[]string{"operators", "mechanisms", "schemas/decision", "schemas/event"},
		"the conformance suite runs any operator",
	},
	{
		"operators/setting",
		[]string{"mechanisms/protection", "mechanisms/steps", "schemas/text"},
		"settings are read before any operator is made",
	},
	{
		"operators/description",
		[]string{"operators/setting", "mechanisms", "mechanisms/protection"},
		"figures of an operator know no operator",
	},
	{
		"operators/neighbours",
		[]string{"=operators", "mechanisms", "schemas/decision", "schemas/event"},
		"a pair of runs is of any operator",
	},
	{
		"operators/loss",
		[]string{"operators", "mechanisms", "schemas/event", "schemas/text"},
		"losses know no algorithm",
	},
	{"operators/convex/shape", nil, "what sets share knows no set"},
	{
		"operators/convex/oracle",
		[]string{"=operators/convex", "operators/convex/shape"},
		"general oracles know sets by their methods alone",
	},
	{
		"operators/convex/graph",
		[]string{
			"=operators/convex",
			"operators/convex/shape",
			"operators/convex/oracle",
			"operators/convex/choice",
			"operators/convex/hull",
		},
		"trees and forests are choices of edges, and the ball of trees is in a hull",
	},
	{"operators/convex/catalogue", []string{"operators/setting", "operators/convex"}, "the list names every set"},
	{
		"operators/convex",
		[]string{
			"operators/setting",
			"=operators/convex",
			"operators/convex/shape",
			"operators/convex/oracle",
			"operators/elementary",
			"operators/moments",
			"mechanisms",
		},
		"sets know no algorithm, and no set another",
	},
	{"operators/pending", nil, "rows that wait know no algorithm"},
	{
		"operators/actions",
		[]string{"=operators", "operators/setting", "schemas/decision", "schemas/event"},
		"plays that wait know no algorithm",
	},
	{
		"operators/experiment",
		[]string{"operators/elementary"},
		"an experiment is a function of released numbers and of the public law of their noise",
	},
	{"operators/elementary", nil, "arithmetic knows numbers and nothing else"},
	{
		"operators/moments",
		[]string{"operators/setting", "=mechanisms", "mechanisms/contribution", "mechanisms/lattice", "operators/elementary"},
		"second moments know no algorithm",
	},
	{
		"operators/aggregate/block",
		[]string{"mechanisms/contribution", "mechanisms/lattice"},
		"leaves know the lattice, and no operator",
	},
	{"operators/aggregate/interval", []string{"operators/elementary"}, "intervals are functions of released numbers"},
	{
		"operators/aggregate/trial",
		[]string{
			"=operators", "operators/setting", "operators/experiment", "operators/aggregate/block",
			"operators/aggregate/interval",
			"=mechanisms", "schemas/decision", "schemas/event", "schemas/text",
		},
		"a trial knows the arms of a release, and no specification",
	},
	{
		"operators/coco/band",
		[]string{
			"=operators", "operators/setting", "operators/description", "operators/loss", "operators/elementary",
			"=mechanisms", "mechanisms/contribution", "mechanisms/protection", "schemas/decision", "schemas/event",
		},
		"a band knows a loss, and neither the set nor the update of a learner",
	},
	{
		"operators",
		[]string{
			"=operators",
			"operators/setting",
			"operators/description",
			"operators/loss",
			"operators/convex",
			"operators/elementary",
			"operators/experiment",
			"operators/moments",
			"operators/pending",
			"operators/actions",
			"mechanisms",
			"schemas/decision",
			"schemas/event",
			"schemas/text",
		},
		"operators stand on mechanisms and the form of events, and no algorithm family on another",
	},
	{"mechanisms/dp", nil, "accounting is a leaf"},
	{"mechanisms/lattice", nil, "the lattice is a leaf"},
	{"mechanisms/contribution", []string{"mechanisms/lattice"}, "a contribution knows integers, neither noise nor budget"},
	{"mechanisms/noise", []string{"mechanisms/lattice"}, "noise knows integers, not mechanisms"},
	{"mechanisms/mechtest", []string{"mechanisms"}, "test helpers may see every mechanism"},
	{"mechanisms/audit", []string{"mechanisms"}, "an audit may see every mechanism"},
	{"mechanisms/rational", []string{"mechanisms/dp"}, "the mathematics of filters knows numbers, not mechanisms"},
	// The root package imports the families of mechanisms, because it creates mechanisms by name.
	{
		"mechanisms/names",
		[]string{"mechanisms/contribution", "mechanisms/lattice", "mechanisms/noise", "mechanisms/perstep"},
		"names are counted in each step, and released as its sums are",
	},
	{"mechanisms", []string{
		"mechanisms/buffer", "mechanisms/contribution", "mechanisms/dp", "mechanisms/lattice",
		"mechanisms/noise", "mechanisms/rational", "mechanisms/mechtest",
	}, "mechanisms import nothing above, and no family another"},
	{"state", []string{"state"}, "state keeps sealed bytes and knows nothing else of ours"},
	{"schemas/text", nil, "texts know neither events nor decisions"},
	{"schemas/event", []string{"schemas/text"}, "an event knows no decision"},
	{"schemas/decision", []string{"=schemas", "schemas/text"}, "a decision knows no event"},
	{
		"schemas/mapping/mappingtest",
		[]string{"schemas/event", "schemas/text", "schemas/mapping"},
		"test helpers of every encoding",
	},
	{"schemas/mapping/calendar", []string{"schemas/text"}, "the calendar knows texts and seconds"},
	{
		"schemas/mapping",
		[]string{"schemas/event", "schemas/text", "schemas/mapping/calendar"},
		"a mapping knows events and no encoding but JSON",
	},
	{"schemas/protobuf", []string{"schemas/text", "schemas/mapping"}, "an encoding knows paths and values, and no event"},
	{
		"schemas/framing",
		[]string{"schemas/event", "schemas/text", "schemas/mapping"},
		"a framing knows no encoding but JSON",
	},
	{"schemas/avro", []string{"schemas/text", "schemas/mapping"}, "an encoding knows paths and values, and no event"},
	{"schemas/table", []string{"schemas/event", "schemas/text", "schemas/mapping"}, "a row becomes JSON"},
	{"schemas", nil, "published schemas are files"},
}

// CheckImports checks the direction of imports inside the module, and imports of test helpers. Other packages have rows
// in .golangci.yml.
func CheckImports(packages []Package) []Finding {
	var found []Finding
	for _, p := range packages {
		from := folder(p.ImportPath)
		for _, imported := range p.Imports {
			if reason := refusedImport(from, imported); reason != "" {
				found = append(found, Finding{p.ImportPath, fmt.Sprintf("imports %s: %s", imported, reason)})
			}
		}
		for _, imported := range append(append([]string{}, p.TestImports...), p.XTestImports...) {
			if reason := refusedTestImport(from, imported); reason != "" {
				found = append(found, Finding{p.ImportPath, fmt.Sprintf("its tests import %s: %s", imported, reason)})
			}
		}
	}
	return found
}

// unreached lists folders that must not use a third-party package at all, neither by an import of their own nor through
// another package of this module.
var unreached = []struct{ folder, path, reason string }{
	{"cmd/oriel", "gonum.org/v1/plot", "only the tests of cmd/papers draw"},
}

// CheckReach follows imports from the folders of unreached.
func CheckReach(packages []Package) []Finding {
	imports := make(map[string][]string)
	for _, p := range packages {
		imports[p.ImportPath] = p.Imports
	}
	var found []Finding
	for _, rule := range unreached {
		start := Module + "/" + rule.folder
		seen := map[string]bool{start: true}
		for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
			for _, imported := range imports[queue[0]] {
				if within(imported, rule.path) {
					found = append(found, Finding{start, fmt.Sprintf(
						"reaches %s, which %s imports: %s", imported, queue[0], rule.reason)})
				} else if ours(imported) && !seen[imported] {
					seen[imported] = true
					queue = append(queue, imported)
				}
			}
		}
	}
	return found
}

// refusedImport returns why code in the folder from must not import the package, or "" if it may.
func refusedImport(from, imported string) string {
	if !ours(imported) {
		return ""
	}
	to := folder(imported)
	if isTestHelper(to) && !isTestHelper(from) {
		return "test helpers are imported by _test files only"
	}
	if reason := refusedAlgorithm(from, to); reason != "" {
		return reason
	}
	return refusedDirection(from, to)
}

// refusedTestImport returns why tests in the folder from must not import the package, or "" if they may. Tests may
// import what their package may import, test helpers, and packages of the same or lower layers. They must not import
// higher layers.
func refusedTestImport(from, imported string) string {
	if from == "cmd/oriel" && within(folder(imported), "pipeline") {
		return "what a service does is tested beside cmd/internal/service; tests of commands see what these print"
	}
	if !ours(imported) || isTestHelper(folder(imported)) || layer(from) > layer(folder(imported)) {
		return ""
	}
	if top(from) == top(folder(imported)) {
		return "" // a test may compare two families of mechanisms
	}
	return refusedDirection(from, folder(imported))
}

func refusedDirection(from, to string) string {
	rule := ruleOf(from)
	switch {
	case rule.folder == "":
		return "the folder has no row in the table of import direction"
	case within(to, from), slices.Contains(rule.imports, "="+to), withinAny(to, rule.imports):
		return ""
	}
	return rule.reason
}

// ruleOf returns the row that contains a folder, or a row without a folder if no row does.
func ruleOf(from string) rule {
	for _, rule := range direction {
		if within(from, rule.folder) {
			return rule
		}
	}
	return rule{}
}

// top returns the first element of a folder's path.
func top(dir string) string {
	first, _, _ := strings.Cut(dir, "/")
	return first
}

// layer returns the layer of a top-level folder. A higher layer may import a lower one.
func layer(dir string) int {
	return map[string]int{
		"cmd": 5, "deploy": 5, "pipeline": 4, "operators": 3, "mechanisms": 2, "state": 1,
		"schemas": 1,
	}[top(dir)]
}

// isTestHelper reports whether a folder is a test helper, for example mechtest, optest or pipetest.
func isTestHelper(dir string) bool { return strings.HasSuffix(path.Base(dir), "test") }
