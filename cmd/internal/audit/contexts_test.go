package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAuditOfAContextualBandit covers contributions of two arms, of two candidates, and of arms with features. Canaries
// must reach the whole claim; one attack must bound nine tenths of the claim, and no attack may exceed it. The test
// runs with and without served actions; the audit sends each reward with its context.
func TestAuditOfAContextualBandit(t *testing.T) {
	helpings := filepath.Join(t.TempDir(), "helpings")
	if err := os.WriteFile(helpings, []byte("small:1:0.5\nlarge:1:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{
		{"ORIEL_PLAYED=logged", "ORIEL_ARMS=a,b,c", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8"},
		{"ORIEL_PLAYED=served", "ORIEL_ARMS=a,b", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8"},
		{
			"ORIEL_PLAYED=logged", "ORIEL_CANDIDATES=2", "ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=8",
			"ORIEL_ADJACENCY=zero-out", "ORIEL_LABEL_SHARE=0.7", "ORIEL_BATCH=2",
		},
		{
			"ORIEL_PLAYED=logged", "ORIEL_ARM_FEATURES=" + helpings, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8",
			"ORIEL_LABEL_SHARE=0.7",
		},
	} {
		a := subjectOf(t, append([]string{"ORIEL_OPERATOR=linucb", "ORIEL_DIMENSION=3"}, more...)...)
		reachesClaim(t, a, 0.99, strings.Join(more, " "))
	}
}
