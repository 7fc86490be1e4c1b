package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/settings"
	"oriel/state"
)

// planEnviron returns the environment that `oriel plan` needs, with changes.
func planEnviron(changes ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=8", "ORIEL_STRONG_CONVEXITY=0.001", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=64", "ORIEL_EPSILON=1",
		"ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}, changes...)
}

// plannedJSON runs `oriel plan --json`.
func plannedJSON(t *testing.T, o planOptions, changes ...string) (r struct {
	Setting struct {
		Mechanism     string   `json:"mechanism"`
		Window        uint64   `json:"window_steps"`
		WindowSeconds *float64 `json:"window_seconds"`
		Separation    uint64   `json:"separation_steps"`
		Horizon       uint64   `json:"horizon_steps"`
		Sealed        int      `json:"sealed_state_bytes"`
	} `json:"setting"`
	Ages []struct {
		Steps uint64 `json:"steps"`
	} `json:"ages"`
	Mechanisms []struct {
		Name string `json:"name"`
		Cost struct {
			Nanoseconds *float64 `json:"nanoseconds"`
		} `json:"cost_of_a_step"`
	} `json:"mechanisms"`
},
) {
	t.Helper()
	o.json = true
	var out bytes.Buffer
	if err := runPlan(&out, planEnviron(changes...), o); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	return r
}

func TestPlanTakesSettingsAndFlags(t *testing.T) {
	r := plannedJSON(t, planOptions{rate: 2, age: 100}, "ORIEL_BATCH=4")
	if s := r.Setting; s.Mechanism != "blt" || s.Window != 64 || s.WindowSeconds == nil || *s.WindowSeconds != 128 {
		t.Errorf("setting %+v", s)
	}
	if !slices.ContainsFunc(r.Ages, func(a struct {
		Steps uint64 `json:"steps"`
	},
	) bool {
		return a.Steps == 100
	}) {
		t.Errorf("ages %+v", r.Ages)
	}
	if r := plannedJSON(t, planOptions{}, "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=100"); r.Setting.Horizon != 100 ||
		r.Setting.WindowSeconds != nil {
		t.Errorf("setting %+v", r.Setting)
	}
	once := []string{"ORIEL_MECHANISM=once-gaussian", "ORIEL_UPDATE=ogd", "ORIEL_WINDOW="}
	if r := plannedJSON(t, planOptions{}, once...); r.Setting.Window != 0 || r.Mechanisms[0].Name != "once-gaussian" {
		t.Errorf("setting %+v", r.Setting)
	}
}

// TestPlanSealedState checks that the planned length of a sealed state equals the length in the changelog: the
// machine's state, the user index, and the seal.
func TestPlanSealedState(t *testing.T) {
	f := func(changes ...string) {
		t.Helper()
		s, err := settings.Load(planEnviron(changes...), settings.Events, settings.Operator)
		if err != nil {
			t.Fatal(err)
		}
		model := s.Model()
		stream, err := replay.Open(model, replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		private := stream.AppendState(nil)
		sealer, err := state.NewIncarnation(state.Incarnation{}).Sealer()
		if err != nil {
			t.Fatal(err)
		}
		sealer.Seal(nil, state.Position{Step: 9}, private)
		if got := plannedJSON(t, planOptions{}, changes...).Setting.Sealed; got != sealer.Width()+state.PartitionLen ||
			got <= len(private) {
			t.Errorf("%v: sealed state of %d bytes, want %d", changes, got, sealer.Width())
		}
	}
	f()
	f("ORIEL_MECHANISM=tree-gamma")
	f("ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=16")
}

func TestPlanRefuses(t *testing.T) {
	f := func(o planOptions, want string, changes ...string) {
		t.Helper()
		var out bytes.Buffer
		if err := runPlan(&out, planEnviron(changes...), o); err == nil || !strings.Contains(err.Error(), want) ||
			out.Len() > 0 {
			t.Errorf("%+v: %v, printed %q, want %q", o, err, out.String(), want)
		}
	}
	f(planOptions{rate: -1}, "--rate: ")
	f(planOptions{}, "ORIEL_EPSILON", "ORIEL_EPSILON=0")
	f(planOptions{}, "ORIEL_WINDOW", "ORIEL_MECHANISM=tree-gamma", "ORIEL_WINDOW=65")
	f(planOptions{}, "epsilon 1e-09", "ORIEL_WINDOW=4194304", "ORIEL_EPSILON=1e-9", "ORIEL_DELTA=1e-300")
}

func BenchmarkPlan(b *testing.B) {
	for _, window := range []string{"1024", "4194304"} {
		b.Run("W="+window, func(b *testing.B) {
			for b.Loop() {
				if err := runPlan(&bytes.Buffer{}, planEnviron("ORIEL_WINDOW="+window), planOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestPlanOfCosts checks what plan states about costs: the directions in which decisions can move, and a range of costs
// that the clip does not shorten. On two layers of two vertices all paths have three edges, so equal costs contribute
// nothing after centring. The largest norm is h√n = ½√8, with h half the range.
func TestPlanOfCosts(t *testing.T) {
	edges := filepath.Join(t.TempDir(), "edges")
	if err := os.WriteFile(edges, []byte("s>a\ns>b\na>c\na>d\nb>c\nb>d\nc>t\nd>t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flow := []string{
		"ORIEL_LOSS=linear", "ORIEL_UPDATE=llo", "ORIEL_CONSTANTS=search", "ORIEL_SET=flow", "ORIEL_EDGES=" + edges,
		"ORIEL_RADIUS=1", "ORIEL_DIMENSION=8",
	}
	said := func(o planOptions, changes ...string) string {
		t.Helper()
		var out bytes.Buffer
		if err := runPlan(&out, planEnviron(changes...), o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, c := range []struct {
		text string
		want []string
	}{
		{said(planOptions{}, flow...), []string{
			"on the 3 directions in which decisions can move, of 8", "with --costs LOW:HIGH",
		}},
		{said(planOptions{costs: "2:3"}, flow...), []string{
			"costs from 2 to 3: no cost vector then has a norm above 1.415 (8.486 before projection): ORIEL_CLIP=1.415 shortens none",
			"have about 0.5. Noise is in proportion to the clip",
			"ORIEL_START_REGULARIZER=", "ORIEL_STRONG_CONVEXITY=", "ORIEL_CLIP=0.12 ", "a quarter of the usual norm",
		}},
		{said(planOptions{costs: "0:1"}, "ORIEL_LOSS=linear"), []string{
			"decisions can move in all directions", "no cost vector then has a norm above 2.829 (2.829 before projection)",
		}},
	} {
		for _, part := range c.want {
			if !strings.Contains(c.text, part) {
				t.Errorf("%q is not in\n%s", part, c.text)
			}
		}
	}
	if text := said(planOptions{}); strings.Contains(text, "cost vector") {
		t.Errorf("of features it says\n%s", text)
	}
	for costs, want := range map[string]string{"1:0": "not LOW:HIGH", "0:1": "events are no vectors of costs"} {
		err := runPlan(&bytes.Buffer{}, planEnviron(), planOptions{costs: costs})
		if err == nil || !strings.Contains(err.Error(), "--costs: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("--costs %s of features: %v", costs, err)
		}
	}
}

// TestPlanComparesStreams checks that, with --partitions, the rate given by --rate is that of the whole input, whether
// the input is one stream or several.
func TestPlanComparesStreams(t *testing.T) {
	for _, c := range []struct{ stream, want string }{
		{"", "W = 64 steps (2 min 8 s)"}, {"topic", "W = 64 steps (32 s)"},
	} {
		var out bytes.Buffer
		if err := runPlan(&out, planEnviron("ORIEL_STREAM="+c.stream), planOptions{rate: 2, inputs: 4}); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			c.want, "One stream of 4 partitions, or 4 streams: 2 events a second in all", "set ORIEL_WINDOW=256,",
		} {
			if !strings.Contains(out.String(), text) {
				t.Errorf("ORIEL_STREAM=%q: %q is not said:\n%s", c.stream, text, &out)
			}
		}
	}
	for _, o := range []planOptions{{inputs: 4}, {rate: 1, inputs: -1}} {
		if err := runPlan(io.Discard, planEnviron(), o); err == nil || !strings.Contains(err.Error(), "--partitions") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
