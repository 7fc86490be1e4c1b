package auditor

import (
	"strings"
	"testing"
)

// Rows of two arms, and of two candidates, show all of the claim; one attack bounds nine tenths of it, and none passes
// it. Actions are served or not: the audit sends each reward with its context.
func TestAuditOfAContextualBandit(t *testing.T) {
	for _, more := range [][]string{
		{"ORIEL_PLAYED=logged", "ORIEL_ARMS=a,b,c", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8"},
		{"ORIEL_PLAYED=served", "ORIEL_ARMS=a,b", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8"},
		{
			"ORIEL_PLAYED=logged", "ORIEL_CANDIDATES=2", "ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=8",
			"ORIEL_ADJACENCY=zero-out", "ORIEL_LABEL_SHARE=0.7", "ORIEL_BATCH=2",
		},
	} {
		a := subjectOf(t, append([]string{"ORIEL_OPERATOR=linucb", "ORIEL_DIMENSION=3"}, more...)...)
		reachesClaim(t, a, 0.99, strings.Join(more, " "))
	}
}
