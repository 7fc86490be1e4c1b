//go:build promtool

package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// promtool runs Prometheus's own checker. With the build tag and without the program, the tests must fail and never
// skip.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("promtool", args...).CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestPromtoolAcceptsConfiguration(t *testing.T) {
	promtool(t, "check", "config", "prometheus/prometheus.yml")
}

// TestPromtoolParsesDashboard lets promtool parse the dashboard's queries as recording rules, with values for Grafana's
// variables.
func TestPromtoolParsesDashboard(t *testing.T) {
	type rule struct{ Record, Expr string }
	var rules []rule
	variables := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$partition", ".*", "$deployment", "d",
		"$stream", "0", "$memory", "1000", "$statistic", "mean", "$cell", "carrier=UA,hour=7:8")
	for _, panel := range loadDashboard(t).Panels {
		for _, target := range panel.Targets {
			rules = append(rules, rule{fmt.Sprintf("panel:%d:%s", panel.ID, target.RefID), variables.Replace(target.Expr)})
		}
	}
	content, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", file)
}
