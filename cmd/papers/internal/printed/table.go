package printed

import (
	"strings"

	"oriel/cmd/internal/registry"
	"oriel/operators/bandit"
	"oriel/operators/coco"
	"oriel/operators/linucb"
)

// Operators lists the operators of oriel, extended by the choices that papers print.
var Operators = table()

func table() registry.Table {
	var t registry.Table
	for _, d := range registry.All {
		switch d.Name {
		case coco.Definition.Name:
			t = append(t, coco.ForPapers(windowPaper{}))
		case bandit.Definition.Name:
			t = append(t, bandit.ForPapers(privateBandit))
		case linucb.Definition.Name:
			t = append(t, linucb.ForPapers(contextual{}))
		case "submodular":
			t = append(t, d.WithChoices("RATE", "printed"))
		case "sets":
			t = append(t, d.WithChoices("RATE", "theorem", "printed", "direct"))
		default:
			t = append(t, d)
		}
	}
	return t
}

// Choices returns the settings for which papers print choices, each with its choices.
func Choices() []string {
	var lines []string
	for i, d := range registry.All {
		for j, s := range d.Settings {
			if further := Operators[i].Settings[j].Choices[len(s.Choices):]; len(further) > 0 {
				lines = append(lines, "ORIEL_OPERATOR="+d.Name+": ORIEL_"+s.Name+"="+strings.Join(further, ", "))
			}
		}
	}
	return lines
}
