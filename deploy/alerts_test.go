//go:build promtool

package deploy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// played maps the series of one process, written as name and labels, to their samples in promtool's notation. Samples
// are 30 s apart: "1x60" is the value 1 for half an hour.
type played map[string]string

// wellProcess returns the series of a healthy process that owns partitions 0 and 1. outage_test.go tests real
// processes.
func wellProcess(deployment, instance string) played {
	p := played{fmt.Sprintf("up{job=%q, instance=%q, deployment=%q}", "oriel", instance, deployment): "1x60"}
	set := func(name, values string, labels ...string) {
		all := append([]string{fmt.Sprintf("deployment=%q", deployment), fmt.Sprintf("instance=%q", instance)}, labels...)
		p[name+"{"+strings.Join(all, ", ")+"}"] = values
	}
	set("oriel_ready", "1x60")
	for _, reason := range []string{"brokers", "disk", "group", "input", "partitions"} {
		set("oriel_waiting", "0x60", fmt.Sprintf("reason=%q", reason))
	}
	set("oriel_input_partitions", "2x60")
	set("oriel_streams", "2x60")
	set("oriel_schemas_unfrozen", "0x60")
	set("oriel_partitions_owned", "2x60")
	set("oriel_foreign_members", "0x60")
	set("oriel_epsilon", "1x60")
	set("oriel_delta", "1e-06x60")
	set("oriel_window_steps", "36000x60")
	set("oriel_step_seconds", "10x60")
	for partition := range 2 {
		on := fmt.Sprintf("partition=\"%d\"", partition)
		for state, value := range map[string]string{"restoring": "0x60", "running": "1x60", "stopped": "0x60"} {
			set("oriel_task_state", value, on, fmt.Sprintf("state=%q", state))
		}
		set("oriel_records_total", "0+300x60", on)
		set("oriel_steps_total", "0+300x60", on) // 10 steps a second, as samples are 30 s apart
		set("oriel_input_lag_records", "20x60", on)
		set("oriel_transactions_total", "0x30 1x29", on, `outcome="aborted"`)
		set("oriel_restarts_total", "0x60", on)
		set("oriel_order_records_refused_total", "0x60", on)
		set("oriel_order_void_seconds", "10x60", on)
		set("oriel_last_decision_timestamp_seconds", "-20+30x60", on)
		set("oriel_input_awaited", "_x60", on, `input_partition="5"`)
		for _, le := range []string{"0.064", "8.192", "+Inf"} {
			set("oriel_commit_duration_seconds_bucket", "0+300x60", on, fmt.Sprintf("le=%q", le))
		}
	}
	return p
}

// with returns a copy of the process in which all series of a name that have all the labels get other values. Empty
// values remove the series.
func (p played) with(values, name string, labels ...string) played {
	p = maps.Clone(p)
	for series := range p {
		if strings.HasPrefix(series, name) && !slices.ContainsFunc(labels,
			func(l string) bool { return !strings.Contains(series, l) }) {
			if values == "" {
				delete(p, series)
			} else {
				p[series] = values
			}
		}
	}
	return p
}

// in returns a copy of the process in which the task of one partition is in a state that consumes nothing.
func (p played) in(state, partition string) played {
	on := fmt.Sprintf("partition=%q", partition)
	return p.with("0x60", "oriel_task_state", on).with("1x60", "oriel_task_state", on, state).with("7x60",
		"oriel_records_total", on).
		with("1x60", "oriel_waiting", "partitions").with("0x60", "oriel_ready")
}

// TestEachFaultRaisesItsOwnAlert checks that each fault raises its own alert and no other, in the one deployment that
// has the fault. A second deployment beside it must raise none.
func TestEachFaultRaisesItsOwnAlert(t *testing.T) {
	well := wellProcess("late", "a")
	for alert, processes := range map[string][]played{
		"": {well},
		"OrielBrokersAway": {well.with("", "oriel_task_state").with("", "oriel_input_lag_records").with("0x60",
			"oriel_partitions_owned").
			with("1x60", "oriel_waiting", "brokers").with("0x60", "oriel_ready").with("7x60", "oriel_records_total").
			with("0+2x60", "oriel_restarts_total").with("0+2x60", "oriel_transactions_total")},
		"OrielDown": {well.with("", "oriel_").with("0x60", "up"), wellProcess("late", "c")},
		"OrielDiskFull": {well.with("1x60", "oriel_waiting", "disk").with("0x60", "oriel_ready").with("7x60",
			"oriel_records_total")},
		"OrielTaskStopped":      {well.in("stopped", "1")},
		"OrielRestoring":        {well.in("restoring", "1")},
		"OrielPartitionUnowned": {well.with("", "oriel_", `partition="1"`).with("1x60", "oriel_partitions_owned")},
		"OrielForeignMember":    {well.with("1x60", "oriel_foreign_members")},
		"OrielInputAwaited": {well.with("1x60", "oriel_input_awaited", `partition="1"`).
			with("1x60", "oriel_waiting", "input").with("0x60", "oriel_ready").with("7x60", "oriel_records_total")},
		"OrielOrderRefused":   {well.with("0x30 1x10 2x19", "oriel_order_records_refused_total", `partition="1"`)},
		"OrielOrderVoid":      {well.with("11x60", "oriel_order_void_seconds", `partition="1"`)},
		"OrielDecisionsLate":  {well.with("-71+30x60", "oriel_last_decision_timestamp_seconds")},
		"OrielSchemaUnfrozen": {well.with("0x20 1x40", "oriel_schemas_unfrozen")},
		"OrielNoProgress":     {well.with("7x60", "oriel_records_total", `partition="1"`)},
		"OrielLag":            {well.with("60000+100x60", "oriel_input_lag_records", `partition="1"`)},
		"OrielAborts":         {well.with("0+1x60", "oriel_transactions_total", `partition="1"`)},
		"OrielRestarts":       {well.with("0+1x60", "oriel_restarts_total", `partition="1"`)},
		"OrielSlowCommits":    {well.with("0+1x60", "oriel_commit_duration_seconds_bucket", `le="0.064"`)},
		"OrielMembersDisagree": {well, wellProcess("late", "c").with("", "oriel_task_state").with("2x60",
			"oriel_epsilon").with("0x60", "oriel_partitions_owned")},
	} {
		t.Run(alert, func(t *testing.T) {
			others := wellProcess("other", "b").with("2x60", "oriel_epsilon")
			samples := []map[string]any{}
			if alert != "" {
				labels := fmt.Sprintf(`{alertname=%q, deployment="late"}`, alert)
				samples = append(samples, map[string]any{"labels": labels, "value": 1})
			}
			promtoolPlays(t, append(processes, others), map[string]any{
				"expr": `count by (alertname, deployment) (ALERTS{alertstate="firing"})`, "eval_time": "25m", "exp_samples": samples,
			})
		})
	}
}

// TestWindowAsTime checks that a window of 36 000 steps at 10 a second is an hour, computed for each deployment
// separately.
func TestWindowAsTime(t *testing.T) {
	samples := []map[string]any{}
	for deployment, seconds := range map[string]int{"late": 3600, "other": 7200} {
		for partition := range 2 {
			labels := fmt.Sprintf(`oriel:window:duration_seconds{deployment=%q, partition="%d"}`, deployment, partition)
			samples = append(samples, map[string]any{"labels": labels, "value": seconds})
		}
	}
	promtoolPlays(t, []played{wellProcess("late", "a"), wellProcess("other", "b").with("72000x60", "oriel_window_steps")},
		map[string]any{"expr": "oriel:window:duration_seconds", "eval_time": "25m", "exp_samples": samples})
}

// promtoolPlays lets promtool evaluate the rules over the series of all processes and compare the result of a query.
func promtoolPlays(t *testing.T, processes []played, query map[string]any) {
	t.Helper()
	rules, err := filepath.Abs("prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var input []map[string]string
	for _, p := range processes {
		for series, values := range p {
			input = append(input, map[string]string{"series": series, "values": values})
		}
	}
	content, err := yaml.Marshal(map[string]any{
		"rule_files": []string{rules}, "evaluation_interval": "30s",
		"tests": []any{map[string]any{"interval": "30s", "input_series": input, "promql_expr_test": []any{query}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test.yml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}
