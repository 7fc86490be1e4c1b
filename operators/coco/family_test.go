package coco

import (
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
)

// settingsOf is the operator of settings beside usual ones, the later one of a name.
func settingsOf(mechanism string, lines ...string) (operators.Operator, error) {
	m := mechanisms.Config{
		Name: mechanism, Batch: 1, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.Window{Steps: 64}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	return optest.Configure(Definition, m, append([]string{
		"UPDATE=projection", "LOSS=squared", "SET=l2-ball", "RADIUS=5", "DIMENSION=3", "STRONG_CONVEXITY=0.001", "CLIP=1",
	}, lines...)...)
}

// A squared loss without a start regulariser is valid and seldom meant; nothing else is warned about.
func TestCautions(t *testing.T) {
	f := func(want bool, mechanism string, lines ...string) {
		t.Helper()
		c, err := settingsOf(mechanism, lines...)
		if err != nil {
			t.Fatal(err)
		}
		got := c.(operators.Cautious).Cautions()
		named := len(got) == 1 && strings.Contains(got[0], "ORIEL_LOSS=squared without ORIEL_START_REGULARIZER")
		if named != want || len(got) > 0 && !want {
			t.Errorf("%v: %q", lines, got)
		}
	}
	f(true, "blt")
	f(true, "tree-gaussian", "START_REGULARIZER=0")
	f(false, "blt", "START_REGULARIZER=0.001")
	f(false, "once-gaussian", "UPDATE=ogd")
	for _, loss := range []string{"logistic", "hinge", "absolute", "linear"} {
		f(false, "blt", "LOSS="+loss)
	}
}

// What is wrong with a setting is not said of the set that it makes, too.
func TestABrokenSettingIsBlamedAlone(t *testing.T) {
	for line, want := range map[string]string{
		"RADIUS=5m": `ORIEL_RADIUS: "5m": not a number (unit: length)`, "RADIUS=-1": "ORIEL_RADIUS: -1: not positive and finite",
		"DIMENSION=3x": `ORIEL_DIMENSION: "3x": not a whole number (unit: coordinates)`,
		"SET=subsets":  "ORIEL_PICK: ",
	} {
		_, err := settingsOf("blt", line)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s alone", line, err, want)
		}
	}
}
