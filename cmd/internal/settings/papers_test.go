package settings

import (
	"strings"
	"testing"

	"oriel/cmd/internal/settings/values"
)

// TestServicesRefuseConstantsOfPapers checks that no service accepts constants that only a paper prints. They are for
// cmd/papers.
func TestServicesRefuseConstantsOfPapers(t *testing.T) {
	_, err := Load(append(minimal(), "ORIEL_OPERATOR=submodular", "ORIEL_RATE=printed"), all...)
	want := "ORIEL_RATE: " + values.Shown("printed") + ": not one of "
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if table := settingsTable(); strings.Contains(table, "printed, ") {
		t.Error("the table of settings has what papers print")
	}
}
