package audit

import (
	"maps"
	"testing"
	"time"

	"oriel/cmd/internal/audit/pairs"
	"oriel/cmd/internal/audit/subject"
)

// fewestPairs is the number of pairs that the check plays on every machine.
const fewestPairs = 16

// TestNeighbours checks that no machine is refuted in the form that its settings configure, and that the check plays
// many pairs on each machine.
func TestNeighbours(t *testing.T) {
	for name, lines := range recordedMachines() {
		t.Run(name, func(t *testing.T) {
			a := subjectOf(t, append([]string{"ORIEL_EPSILON=1"}, lines...)...)
			if c := checkedNeighbours(t, a); !c.Holds || c.Count < fewestPairs {
				t.Errorf("neighbours: %s, %d pairs", c.Found, c.Count)
			}
		})
	}
}

// recordedMachines returns the machines of asConfigured, and one machine of each operator and unit of privacy that
// asConfigured lacks.
func recordedMachines() map[string][]string {
	all := maps.Clone(asConfigured)
	maps.Copy(all, map[string][]string{
		"aggregate": {
			"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=carrier=AA|DL|UA,hour=0:24:2", "ORIEL_VALUE=delay=-60:180",
			"ORIEL_STATISTICS=count,mean", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8",
			"ORIEL_MEMORIES=8,4", "ORIEL_EMIT_EVERY=4", "ORIEL_BATCH=2",
		},
		"ridge": {
			"ORIEL_OPERATOR=ridge", "ORIEL_UPDATE=innovation", "ORIEL_RESIDUAL_MAX=100", "ORIEL_DIMENSION=3",
			"ORIEL_LABEL_RANGE=-60:180",
			"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8",
		},
		"submodular": {
			"ORIEL_OPERATOR=submodular", "ORIEL_RULE=argmax", "ORIEL_PICK=2", "ORIEL_ELEMENTS=5", "ORIEL_MECHANISM=blt",
			"ORIEL_WINDOW=10", "ORIEL_EMIT_EVERY=3", "ORIEL_BATCH=2",
		},
		"submodular draws": {
			"ORIEL_OPERATOR=submodular", "ORIEL_RULE=draws", "ORIEL_MECHANISM=draws", "ORIEL_PICK=2", "ORIEL_ELEMENTS=5",
			"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=64", "ORIEL_EMIT_EVERY=4",
		},
		"sets draws": {
			"ORIEL_OPERATOR=sets", "ORIEL_RULE=draws", "ORIEL_MECHANISM=draws", "ORIEL_PICK=2", "ORIEL_ELEMENTS=a,b,c",
			"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=256", "ORIEL_SHARE=0.5", "ORIEL_DELAY=2",
		},
		"users": {
			"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=linear", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
			"ORIEL_DIMENSION=3", "ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_CLIP=1.5", "ORIEL_MECHANISM=tree-gaussian",
			"ORIEL_WINDOW=8", "ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3", "ORIEL_BATCH=2",
		},
		"users for life": {
			"ORIEL_OPERATOR=ridge", "ORIEL_UPDATE=moments", "ORIEL_DIMENSION=2", "ORIEL_LABEL_RANGE=-60:180",
			"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_USER_ID=key",
			"ORIEL_USER_SEPARATION=3", "ORIEL_USER_WINDOW=10",
		},
	})
	return all
}

// checkedNeighbours returns the check of the machine as the settings configure it.
func checkedNeighbours(t *testing.T, a *subject.Subject) subject.Check {
	t.Helper()
	deployed, err := a.Deployed()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c, err := pairs.Check(deployed)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d pairs in %s: %s", c.Name, c.Count, time.Since(start).Round(time.Millisecond), c.Found)
	return c
}
