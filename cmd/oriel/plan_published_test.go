package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
)

// plannedSizes are what `oriel plan` says of decisions' sizes.
func plannedSizes(t *testing.T, s settings.Settings) plan.Setting {
	t.Helper()
	answer, err := planAnswer(s, planOptions{rate: 2})
	if err != nil {
		t.Fatal(err)
	}
	return answer.(*plan.Report).Setting
}

// TestPlanSaysWhatIsPublished: of every operator, the bytes of decisions for an event are those that a replay of real
// events publishes after its opening.
func TestPlanSaysWhatIsPublished(t *testing.T) {
	for _, c := range goldenCases(t) {
		name, _, _ := strings.Cut(c.events, "-")
		events, err := os.ReadFile(filepath.Join("testdata/golden", name+".ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		o := replayOptions{seed: strings.Repeat("5eed", 16)}
		if c.settings.UserID != "" {
			o.separator, events = "|", byTurns(events)
		}
		if c.plays() {
			o.separator = "|"
		}
		lines := bytes.Count(events, []byte("\n"))
		total, decisions := 0, 0
		for line := range bytes.Lines(replayOf(t, model(t, c.settings), o, events)) {
			if !bytes.Contains(line, []byte(`"step":0,`)) {
				total, decisions = total+len(line)-1, decisions+1
			}
		}
		if decisions < 3 { // too few events for a figure
			continue
		}
		got := plannedSizes(t, c.settings)
		each := float64(total) / float64(decisions) / float64(got.DecisionBytes)
		event := float64(total) / float64(lines) / float64(got.EventBytes)
		day := float64(got.DayBytes) / float64(got.EventBytes) / (2 * 86400)
		const least, most = 0.95, 1.6
		if !(each > least && each < most && event > least && event < most) || math.Abs(day-1) > 1e-9 {
			t.Errorf("%v: a decision is %.2f times what plan says, an event's are %.2f times; a day %g", c, each, event, day)
		}
	}
}

// TestPlanSaysSizesOfRareDecisions: a decision each billion events has a size, too, and actions beside it keep theirs.
// Where a single step has more events than plan steps over, it says so.
func TestPlanSaysSizesOfRareDecisions(t *testing.T) {
	for _, of := range goldenEvents {
		if of.name != "contexts-marked" && of.name != "aggregate-memory-shown" {
			continue
		}
		env := goldenEnv("blt", of.env)
		often := plannedSizes(t, load(t, env...))
		env = slices.DeleteFunc(env, func(line string) bool { return strings.HasPrefix(line, "EMIT_EVERY=") })
		rare := plannedSizes(t, load(t, append(env, "EMIT_EVERY=1000000000")...))
		switch of.name {
		case "contexts-marked": // an event has one action of some 370 bytes, and no model
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
