package main

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// TestRidgeIsServed: weights from private second moments and from residuals, killed in the middle, over each kind of
// sum; they learn what there is to learn, nothing of an event shows up beside them, and what was published is what the
// input makes.
func TestRidgeIsServed(t *testing.T) {
	for name, more := range map[string]map[string]string{
		"moments for life": {
			"ORIEL_UPDATE": "moments", "ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "256", "ORIEL_MECHANISM": "blt",
		},
		"innovation in a window": {
			"ORIEL_UPDATE": "innovation", "ORIEL_RESIDUAL_MAX": "60", "ORIEL_WINDOW": "256", "ORIEL_MECHANISM": "blt",
		},
		"moments in a tree": {"ORIEL_UPDATE": "moments", "ORIEL_WINDOW": "64", "ORIEL_MECHANISM": "tree-gaussian"},
	} {
		t.Run(name, func(t *testing.T) { servesRidge(t, more) })
	}
}

func servesRidge(t *testing.T, more map[string]string) {
	t.Helper()
	const half, whole = 300, 640
	f := newFixture(t, 1, nil)
	for _, other := range []string{"LOSS", "SET", "RADIUS", "STRONG_CONVEXITY", "CLIP"} {
		delete(f.env, "ORIEL_"+other)
	}
	f.env["ORIEL_OPERATOR"], f.env["ORIEL_LABEL_RANGE"], f.env["ORIEL_EPSILON"] = "ridge", "-60:180", "60"
	f.env["ORIEL_EMIT_EVERY"], f.env["ORIEL_LOG_LEVEL"] = "1", "debug"
	for key, value := range more {
		f.env[key] = value
	}
	f.must("topics")
	records := make([]kafka.Record, whole)
	for i := range records {
		x := float64(i%7)/3 - 1
		records[i] = kafka.Record{
			Key: []byte(canary),
			Value: fmt.Appendf(nil, `{"features":[%g,0.5,0,0,0,0,0,0],"label":%g,"weight":%g}`, x/2, 60+80*x,
				0.5+float64(i%2)),
		}
		if i%50 == 7 {
			records[i].Value = []byte(`{"features":["` + canary + `"],"label":1}`)
		}
	}
	f.send(0, records[:half]...)
	first := f.start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	<-first.done
	again := f.start(nil, "run")
	f.awaitTaken(time.Minute, half)
	_ = again.cmd.Process.Kill() // anywhere, as kill -9
	<-again.done
	saved := filepath.Join(t.TempDir(), "saved")
	f.must("replay", "--save", saved, "--partition", "0")
	f.send(0, records[half:]...)
	second := f.start(nil, "run")
	f.awaitTaken(time.Minute, whole)
	pages := f.pages(second)
	second.terminate()
	checkHistory(t, f, 0, whole)
	decisions := f.read(f.topic("decisions"), 0, false)
	last, err := schemas.ParseDecision(decisions[len(decisions)-1].Value)
	if err != nil {
		t.Fatal(err)
	}
	// 160 a unit of the first feature; regulariser and shift draw it to zero by half at most, at this ε.
	if w := last.Point[0]; !(w > 40 && w < 240) || math.Abs(last.Point[5]) > 60 {
		t.Errorf("weights %v", last.Point)
	}
	for _, text := range []string{`"deviation":[`, `"offset":60,`, `"residual_deviation":`, `"doublings":0`} {
		if !bytes.Contains(decisions[len(decisions)-1].Value, []byte(text)) {
			t.Errorf("the last decision does not say %s: %s", text, decisions[len(decisions)-1].Value)
		}
	}
	log := first.output() + again.output() + second.output()
	for where, text := range map[string]string{"the log": log, "the pages": pages} {
		if strings.Contains(text, canary) {
			t.Errorf("the canary shows up in %s", where)
		}
	}
	for _, kind := range []string{"decisions", "verdicts", "changelog"} {
		for _, r := range f.read(f.topic(kind), 0, true) {
			if bytes.Contains(r.Key, []byte(canary)) || bytes.Contains(r.Value, []byte(canary)) {
				t.Errorf("the canary shows up in %s", kind)
			}
		}
	}
	if said := f.must("replay", "--check", "--from", saved, "--partition", "0"); !strings.Contains(said, "all equal") {
		t.Errorf("replay --check: %s", said)
	}
	shown := f.must("tail", "--topic", f.topic("decisions"), "--partition", "0", "--from-beginning", "--follow=false")
	if !strings.Contains(shown, "residual_deviation=") {
		t.Errorf("tail: %s", tailOf(shown))
	}
	if text := f.must("audit", "--runs", "20", "--seed", seedText); !strings.HasSuffix(text, "\nNot refuted.\n") {
		t.Errorf("audit: %s", text)
	}
	if text := f.must("plan"); !strings.Contains(text, "second moments of rows (x; s·y)") {
		t.Errorf("plan: %s", text)
	}
}
