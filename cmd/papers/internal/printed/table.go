package printed

import (
	"oriel/cmd/internal/registry"
	"oriel/operators/coco"
)

// Operators are those of oriel, with the choices that papers print.
var Operators = table()

func table() registry.Table {
	var t registry.Table
	for _, d := range registry.All {
		if d.Name == coco.Definition.Name {
			t = append(t, coco.ForPapers(windowPaper{}))
			continue
		}
		t = append(t, d.ForPapers())
	}
	return t
}
