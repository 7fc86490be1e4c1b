package auditor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Events of two places, and of gains that differ nearly everywhere, show all or nearly all of the claim; none passes
// it.
func TestAuditOfSets(t *testing.T) {
	places := filepath.Join(t.TempDir(), "places")
	if err := os.WriteFile(places, []byte("a:1:2\nb:30:4\nc:50:60\nd:-20:100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{
		{"ORIEL_RULE=histogram", "ORIEL_PLACES=" + places, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8"},
		{"ORIEL_RULE=histogram", "ORIEL_PLACES=" + places, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8"},
		{"ORIEL_RULE=argmax", "ORIEL_ELEMENTS=5", "ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=8", "ORIEL_BATCH=2"},
		{"ORIEL_RULE=argmax", "ORIEL_ELEMENTS=6", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_ADJACENCY=zero-out"},
		{"ORIEL_RULE=argmax", "ORIEL_ELEMENTS=6", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_VALUES_NORM=1"},
		{
			"ORIEL_RULE=argmax", "ORIEL_PLACES=" + places, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_CATCHMENT=10",
			"ORIEL_ADJACENCY=zero-out",
		},
		{"ORIEL_RULE=leaders", "ORIEL_ELEMENTS=6", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8"},
		{"ORIEL_RULE=shares", "ORIEL_ELEMENTS=24", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_COPIES=2"},
	} {
		a := subjectOf(t, append([]string{"ORIEL_OPERATOR=submodular", "ORIEL_PICK=2"}, more...)...)
		reachesClaim(t, a, 0.94, strings.Join(more, " "))
	}
}
