package settings

import (
	"fmt"
	"strings"
	"testing"

	"oriel/cmd/internal/registry"
)

// TestWhatPapersPrintIsRefused checks that a service refuses a variant that exists only to reproduce a paper.
func TestWhatPapersPrintIsRefused(t *testing.T) {
	refused := func(name, value string, environ ...string) {
		t.Helper()
		_, err := Load(append(environ, name+"="+value), all...)
		want := fmt.Sprintf("%s: %q: not one of ", name, value)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	refused("ORIEL_MECHANISM", "tree-gaussian-paper", minimal()...)
	refused("ORIEL_MECHANISM", "tree-gamma-paper", minimal()...)
	choices := 0
	for _, d := range registry.All {
		for _, s := range d.Settings {
			for _, value := range s.Papers {
				choices++
				refused("ORIEL_"+s.Name, value, append(minimal(), "ORIEL_OPERATOR="+d.Name)...)
			}
		}
		if d.Mechanisms != nil {
			t.Errorf("%s has constants for %v", d.Name, d.Mechanisms)
		}
	}
	if choices != 9 {
		t.Errorf("%d choices", choices)
	}
	if table := settingsTable(); strings.Contains(table, "-paper") || strings.Contains(table, "printed, ") {
		t.Error("the table of settings has what papers print")
	}
}
