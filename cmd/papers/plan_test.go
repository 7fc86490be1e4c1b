package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
)

// TestPlanOfPrintedConstants checks the figures that `oriel plan` used to print for the constants of the paper, with G
// = L + µD = 1.015 and L = 1. The Gamma noise proves only 2/1.015 times the claimed ε, and the Gaussian noise would
// suffice for a 31st of ε.
func TestPlanOfPrintedConstants(t *testing.T) {
	for mechanism, rows := range map[string][]string{
		"tree-gamma-paper": {
			"24.36 618.2 631.5 3212 –", "– 1.971 1.971 19.71 197.1 1971", "1.971 3.941 9.853 19.71",
		},
		"tree-gaussian-paper": {
			"1476 7077 7229 36772 14.64", "0.00664 0.03192 0.03192 0.04325 0.1018 0.3199", "0.03192 0.06563 0.1701 0.3495",
		},
	} {
		var out bytes.Buffer
		err := runPlan(&out, []string{
			"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=linear", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
			"ORIEL_DIMENSION=27", "ORIEL_STRONG_CONVEXITY=0.0015", "ORIEL_OWN_CONVEXITY=true", "ORIEL_CLIP=1",
			"ORIEL_MECHANISM=" + mechanism, "ORIEL_WINDOW=8388608", "ORIEL_BATCH=4", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-9",
		}, plan.Input{Rate: 50, Age: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var plain strings.Builder
		for line := range strings.Lines(out.String()) {
			plain.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
		}
		for _, row := range rows {
			if want := "* " + mechanism + " " + row + "\n"; !strings.Contains(plain.String(), want) {
				t.Errorf("no %qin\n%s", want, out.String())
			}
		}
	}
	var invalid settings.Invalid
	ridge := []string{"ORIEL_OPERATOR=ridge", "ORIEL_MECHANISM=tree-gamma-paper"}
	err := runPlan(&bytes.Buffer{}, ridge, plan.Input{})
	if !errors.As(err, &invalid) || !strings.Contains(err.Error(), `"tree-gamma-paper": not one of`) {
		t.Errorf("constants that no paper prints for ridge: %v", err)
	}
}
