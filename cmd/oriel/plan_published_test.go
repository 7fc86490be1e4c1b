package main

import (
	"bytes"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
)

// plannedSizes returns the sizes of decisions that `oriel plan` states.
func plannedSizes(t *testing.T, s settings.Settings) plan.Setting {
	t.Helper()
	answer, err := planAnswer(s, planOptions{rate: 2})
	if err != nil {
		t.Fatal(err)
	}
	return answer.(*plan.Report).Setting
}

// TestPlanPrintsSizesOfDecisions compares the planned decision bytes per event, for every operator, with the bytes that
// a replay of real events publishes after its opening.
func TestPlanPrintsSizesOfDecisions(t *testing.T) {
	t.Parallel()
	for i, c := range decisiontest.Cases(t) {
		if tiertest.Runs(i%7 != 0, false) || c.Settings.ByClock() {
			continue // by the clock a decision is of a time, and not of a number of events
		}
		events := decisiontest.Lines(t, c.Events)
		o := replay.Options{Seed: strings.Repeat("5eed", 16)}
		if c.Settings.UserID != "" {
			o.Separator, events = "|", decisiontest.ByTurns(events)
		}
		if c.Plays() {
			o.Separator = "|"
		}
		lines := bytes.Count(events, []byte("\n"))
		total, decisions := 0, 0
		for line := range bytes.Lines(decisiontest.Replay(t, decisiontest.Model(t, c.Settings), o, events)) {
			if !bytes.Contains(line, []byte(`"step":0,`)) {
				// published decisions also have the time, which lines of a replay lack
				total, decisions = total+len(line)-1+len(`,"time":1700000000000`), decisions+1
			}
		}
		if decisions < 3 { // too few decisions for a mean
			continue
		}
		got := plannedSizes(t, c.Settings)
		each := float64(total) / float64(decisions) / float64(got.DecisionBytes)
		event := float64(total) / float64(lines) / float64(got.EventBytes)
		behind := float64(decisions+1) / float64(decisions) // the last events may not yet have made a decision
		day := float64(got.DayBytes) / float64(got.EventBytes) / (2 * 86400)
		const least, most = 0.95, 1.6
		if !(each > least && each < most && event*behind > least && event < most) || math.Abs(day-1) > 1e-9 {
			t.Errorf("%v: a decision is %.2f times what plan says, an event's are %.2f times; a day %g", c, each, event, day)
		}
	}
}

// TestPlanPrintsSizesOfRareDecisions checks that plan states a size for decisions that come every billion events, and
// that the sizes of the actions beside them do not change. If a single step has more events than plan simulates, the
// output must say so.
func TestPlanPrintsSizesOfRareDecisions(t *testing.T) {
	t.Parallel()
	for _, of := range decisiontest.Inputs {
		if of.Name != "contexts-served" && of.Name != "aggregate-memory-shown" {
			continue
		}
		env := decisiontest.Env("blt", of.Env)
		often := plannedSizes(t, decisiontest.Load(t, env...))
		env = slices.DeleteFunc(env, func(line string) bool { return strings.HasPrefix(line, "EMIT_EVERY=") })
		rare := plannedSizes(t, decisiontest.Load(t, append(env, "EMIT_EVERY=1000000000")...))
		switch of.Name {
		case "contexts-served": // each event has one action of some 370 bytes; no model is in reach
			if !(rare.EventBytes > 300 && rare.EventBytes < often.EventBytes-50) ||
				math.Abs(float64(rare.EventBytes-rare.DecisionBytes)) > 1 {
				t.Errorf("%v each and %v an event; often %v", rare.DecisionBytes, rare.EventBytes, often.EventBytes)
			}
		default:
			if each := rare.EventBytes * 1e9 / rare.DecisionBytes; math.Abs(float64(each)-1) > 1e-9 ||
				!(rare.DecisionBytes > often.DecisionBytes*0.9 && rare.DecisionBytes < often.DecisionBytes*1.1) {
				t.Errorf("%v each and %v an event, want %v each", rare.DecisionBytes, rare.EventBytes, often.DecisionBytes)
			}
		}
	}
	late := planEnviron("ORIEL_BATCH=1000000000")
	var out bytes.Buffer
	if err := runPlan(&out, late, planOptions{}); err != nil ||
		!strings.Contains(out.String(), "decisions: not measured, because the first comes after 1 G events") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestAggregateOfTheReadme checks that the specification on aggregate's page is complete: none of the operator's modes
// needs another setting.
func TestAggregateOfTheReadme(t *testing.T) {
	_, commands := repotest.Operator(t, "aggregate")
	for name, change := range map[string]map[string]string{
		"life":  {},
		"total": {"ORIEL_WINDOW": "1024", "ORIEL_MEMORY": "", "ORIEL_MEMORIES": ""},
		"tumbling": {
			"ORIEL_MECHANISM": "once-gaussian", "ORIEL_BATCH": "1000", "ORIEL_WINDOW": "", "ORIEL_MEMORY": "",
			"ORIEL_MEMORIES": "",
		},
	} {
		f := unserved(t, repotest.SettingsIn(commands))
		for key, value := range change {
			if f.Env[key] = value; value == "" {
				delete(f.Env, key)
			}
		}
		if said := f.Must("plan"); !strings.Contains(said, "one of 72 cells") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestChoosingHasTheFiguresOfPlan checks deploy/CHOOSING.md: its figures must come from its commands, and its posterior
// beliefs from its formula.
func TestChoosingHasTheFiguresOfPlan(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(repotest.Path("deploy/CHOOSING.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := repotest.OnOneLine(string(content))
	said := map[string]string{} // output of each command
	says := func(command, pattern string, shown ...string) {
		t.Helper()
		block := repotest.Block(t, "deploy/CHOOSING.md", command)
		env := map[string]string{}
		args := strings.Fields(block)[1:]
		if epsilon, found := strings.CutPrefix(block, "ORIEL_EPSILON="); found {
			env["ORIEL_EPSILON"], args = strings.Fields(epsilon)[0], args[1:]
		}
		args[1] = repotest.Path(args[1]) // file of --env-file
		if said[command] == "" {
			said[command] = unserved(t, env).Must(args...)
		}
		got := regexp.MustCompile(pattern).FindStringSubmatch(said[command])
		if got == nil {
			t.Fatalf("%s: said %s", command, said[command])
		}
		for i, text := range shown {
			x, errX := strconv.ParseFloat(got[i+1], 64)
			y, errY := strconv.ParseFloat(regexp.MustCompile(`[0-9.]*[0-9]`).FindString(text), 64)
			if errX != nil || errY != nil || math.Abs(x/y-1) > 0.005 || !strings.Contains(page, text) {
				t.Errorf("the page must have %q, and %s is what `oriel %s` says", text, got[i+1], strings.Join(args, " "))
			}
		}
	}
	says("env plan\n", `\* memory 65536 +± ([0-9.]+)`, "± 69.8")
	says("env plan\n", `memory 65536 +± [0-9.]+ … ([0-9.]+)`, "± 11.8 minutes at worst")
	says("plan --after 3000", `memory 65536 +± [0-9.]+ … [0-9.]+ +± [0-9.]+ … ([0-9.]+)`, "± 1.993")

	for _, row := range []struct {
		prior  float64
		prefix string
	}{{0.5, "| from 50 % to at most |"}, {0.01, "| from 1 % to at most |"}} {
		_, cells, found := strings.Cut(page, row.prefix)
		if !found {
			t.Fatalf("the page has no row %q", row.prefix)
		}
		for i, cell := range strings.SplitN(cells, "|", 7)[:6] {
			odds := row.prior * math.Exp([]float64{0.1, 0.5, 1, 2, 4, 8}[i])
			shown, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(cell), " %"), 64)
			if want := 100 * odds / (1 - row.prior + odds); err != nil || math.Abs(shown-want) > 0.051 {
				t.Errorf("%s: cell %d shows %s, it is %.2f %%", row.prefix, i, cell, want)
			}
		}
	}
}
