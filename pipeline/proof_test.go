package pipeline

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// TestConstantsOfEndsAreListed checks that PROOF.md lists each constant of the files that determine memory and the ends
// of transactions.
func TestConstantsOfEndsAreListed(t *testing.T) {
	proof, err := os.ReadFile("PROOF.md")
	if err != nil {
		t.Fatal(err)
	}
	apart := map[string]string{
		"MostMemory": "a bound on a setting", "Untaken": "an offset that no log reaches",
		"format1": "a number of a format", "macLen": "bytes of a field", "headLen": "bytes of fields",
	}
	for _, file := range []string{
		"ahead.go", "compute.go", "task.go", "deployment/memory.go", "streams/ahead.go", "streams/walk.go",
		"transaction/builder.go", "transaction/transaction.go", "kafka/fetch/batch.go", "kafka/memory/budget.go",
		"kafka/memory/buffers.go", "kafka/fetch/delivery.go", "kafka/fetch/reader.go",
		"kafka/records/unpack.go", "order/record.go", "order/plan.go", "order/tick.go", "order/sequencer.go",
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			constants, ok := decl.(*ast.GenDecl)
			if !ok || constants.Tok != token.CONST {
				continue
			}
			for _, spec := range constants.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if apart[name.Name] == "" && !strings.Contains(string(proof), "`"+name.Name+"`") {
						t.Errorf("%s: PROOF.md does not list %s", file, name.Name)
					}
				}
			}
		}
	}
}
