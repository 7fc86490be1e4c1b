package names

import (
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// TestConformance runs the suite of all machines, with so little noise that each name of a step is published.
func TestConformance(t *testing.T) {
	for _, mechanism := range []string{"once-laplace", "once-gaussian"} {
		for _, m := range []uint64{0, 2} {
			c := under(mechanism, 12*float64(max(m, 1)), m)
			built, _ := opened(t, c)
			if err := built.Require(&c, nil); err != nil {
				t.Fatal(err)
			}
			var events []event.Event
			for i := range 60 {
				events = append(events, record(0, numbered(i/7%3)).Event)
			}
			t.Run(mechanism, func(t *testing.T) { optest.Run(t, optest.Of(t, built, c), events) })
		}
	}
}

// TestOtherStreamsAreRefused checks that a machine takes only a stream of names, under the terms of its settings.
func TestOtherStreamsAreRefused(t *testing.T) {
	c := under("once-laplace", 1, 2)
	built, _ := opened(t, c)
	if err := built.Require(&c, nil); err != nil {
		t.Fatal(err)
	}
	open := func(c mechanisms.Config) error {
		stream, err := mechanisms.Open(c, mechtest.Plan(t, c), [32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = built.Open(nil, stream)
		return err
	}
	if err := open(c); err != nil {
		t.Error(err)
	}
	more, events, sums := c, c, c
	more.Unit = protection.UserPeriod{PeriodSteps: 1, Values: 3}
	events.Unit = protection.Event{Exchange: dp.AddRemove}
	sums.Contribution.Names = 0
	for _, other := range []mechanisms.Config{more, events, sums} {
		if open(other) == nil {
			t.Errorf("a stream of %v is taken", other.Terms)
		}
	}
	stream, err := mechanisms.Open(c, mechtest.Plan(t, c), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := built.Open([]byte{1}, stream); err == nil {
		t.Error("params are taken")
	}
}

// TestSettingsAreChecked checks which settings and terms are refused, and by which message.
func TestSettingsAreChecked(t *testing.T) {
	refused := func(c mechanisms.Config, step int64, lines ...string) string {
		v := optest.Values(Definition, c, lines...)
		v.Step = step
		if _, err := Definition.New(v); err != nil {
			return err.Error()
		}
		return ""
	}
	events, persons := under("once-laplace", 1, 0), under("once-gaussian", 1, 3)
	tree := events
	tree.Name = "tree-gaussian"
	for _, x := range []struct {
		c     mechanisms.Config
		step  int64
		lines []string
		want  string
	}{
		{events, 60, nil, ""},
		{persons, 60, []string{"PERSON_NAMES=3", "NAMES_MAX=10000"}, ""},
		{events, 60, []string{"PERSON_NAMES=3"}, "ORIEL_PERSON_NAMES: set, but events count"},
		{events, 0, nil, "ORIEL_STEP: not set"},
		{tree, 60, nil, "ORIEL_MECHANISM: tree-gaussian"},
		{persons, 60, []string{"NAMES_MAX=0"}, "ORIEL_NAMES_MAX"},
		{persons, 60, []string{"NAMES_MAX=10001"}, "ORIEL_NAMES_MAX"},
	} {
		got := refused(x.c, x.step, x.lines...)
		if x.want == "" && got != "" || x.want != "" && !strings.Contains(got, x.want) {
			t.Errorf("%v: %q, want %q", x.lines, got, x.want)
		}
	}
}

// TestReferenceAgrees compares the names that the machine counts with the reference model.
func TestReferenceAgrees(t *testing.T) {
	built, _ := opened(t, under("once-laplace", 1, 2))
	model, err := built.ReferenceModel(nil)
	if err != nil {
		t.Fatal(err)
	}
	var dst [1]float64
	one, other := model.(operators.ManyValues).CanaryOf(0, []float64{1}, 1)
	another, _ := model.(operators.ManyValues).CanaryOf(1, []float64{1}, 1)
	back, _ := model.Canary([]float64{-1}, 1)
	if !back.Null || string(one.Event.Name) == string(another.Event.Name) {
		t.Error("canaries have one name, or one direction")
	}
	for _, r := range []operators.Record{one, other, another, record(0, "x"), {}} {
		if adds := model.Contribution(dst[:], r); adds != (nameOf(r) != nil) || dst[0] != 1 {
			t.Errorf("%+v adds %t", r, adds)
		}
	}
}
