package audit

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

// TestNamesAreAudited audits a stream that counts names: an honest one, and one without noise.
func TestNamesAreAudited(t *testing.T) {
	c := mechanisms.Config{
		Name: "once-laplace", Contribution: contribution.OfNames(256), Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.UserPeriod{PeriodSteps: 24, Values: 2}},
	}
	p := mechtest.Plan(t, c)
	g, err := p.Guarantee(c)
	if err != nil {
		t.Fatal(err)
	}
	a := &subject.Subject{
		WholeMechanism: c, WholeCalibration: p, Mechanism: c, Calibration: p, Guarantee: g, Stream: mechanisms.Open,
	}
	run := func() *Result {
		r, err := Run(context.Background(), a, Options{
			Runs: 4000, Alpha: 1e-6, Progress: func(string, int) (func(int), func()) { return func(int) {}, func() {} },
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	honest := run()
	var text, object bytes.Buffer
	if honest.Err() != nil || honest.Print(&text) != nil || honest.PrintJSON(&object) != nil {
		t.Fatal(honest.Err())
	}
	for _, want := range []string{"lonely names", "shared names", "bound", "are right: ε of at least 0.", "Not refuted."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if !strings.Contains(object.String(), `"bound": true`) {
		t.Error(object.String())
	}
	a.Stream = func(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
		sums, err := p.SumsOver(c, none{})
		if err != nil {
			return nil, err
		}
		return mechanisms.NewStream(c, p, key, sums...)
	}
	if err := run().Err(); !errors.Is(err, ErrCheck) {
		t.Errorf("no noise: %v", err)
	}
}
