package settings

import (
	"strings"
	"testing"
)

// TestServicesRefuseConstantsOfPapers checks that no service accepts constants that only a paper prints; cmd/papers does.
func TestServicesRefuseConstantsOfPapers(t *testing.T) {
	for _, setting := range []string{
		"MECHANISM=tree-gaussian-paper", "MECHANISM=tree-gamma-paper", "coco CONSTANTS=paper", "bandit NOISE=paper",
		"linucb NOISE=paper", "linucb NOISE=paper-wishart", "linucb NOISE=paper-unshifted", "submodular RATE=printed",
		"sets RATE=theorem", "sets RATE=printed", "sets RATE=direct",
	} {
		environ := minimal()
		operator, variable, found := strings.Cut(setting, " ")
		if found {
			environ = append(environ, "ORIEL_OPERATOR="+operator)
		} else {
			variable = setting
		}
		name, value, _ := strings.Cut(variable, "=")
		_, err := Load(append(environ, "ORIEL_"+variable), all...)
		if want := "ORIEL_" + name + ": " + shown(value) + ": not one of "; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
	if table := settingsTable(); strings.Contains(table, "-paper") || strings.Contains(table, "printed, ") {
		t.Error("the table of settings has what papers print")
	}
}
