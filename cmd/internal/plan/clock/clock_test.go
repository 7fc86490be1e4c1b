package clock_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/clock"
	"oriel/cmd/internal/plan/rates"
	"oriel/mechanisms/dp"
	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/pipeline/order"
)

// daily returns the input of hourly steps, in which 4 records of a user count each day. The guarantee is that of
// Gaussian noise at ε = 1.
func daily() clock.Input {
	budget := dp.Budget{Epsilon: 1, Delta: 1e-6}
	return clock.Input{
		Clock: steps.Clock{Length: 3600}, Period: steps.Clock{Length: steps.Day}, Delay: 5 * time.Second,
		Opening: time.Date(2026, 11, 30, 14, 38, 36, 0, time.UTC), Decision: 600,
		Partition: rates.Partitions{Count: 64, Rate: 1e6},
		Guarantee: protection.Guarantee{
			Terms:     protection.Terms{Scope: protection.PerStep{}, Unit: protection.UserPeriod{PeriodSteps: 24, Events: 4}},
			Mechanism: "once-gaussian", Epsilon: 1, Delta: 1e-6, Mu: dp.GaussianMu(budget),
		},
	}
}

// TestLossOfUsersOverPeriods compares losses with √n·µ, with 2µ/k for one event, and with 2µ for an exchange.
func TestLossOfUsersOverPeriods(t *testing.T) {
	in := daily()
	r, mu := clock.New(in), in.Guarantee.Mu
	close := func(what string, got digits.Number, mu float64) {
		t.Helper()
		if want := dp.GaussianEpsilon(mu, 1e-6); !(float64(got) >= want*(1-1e-9) && float64(got) <= want*(1+1e-9)) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	for i, n := range []uint64{1, 7, 30, 365} {
		if a := r.Period.Active[i]; a.Periods != n {
			t.Errorf("%d periods, want %d", a.Periods, n)
		}
		close("active", r.Period.Active[i].Epsilon, math.Sqrt(float64(n))*mu)
	}
	close("one event", r.Period.OneEvent, mu/2)
	close("an exchange", r.Exchange, 2*mu)
	if !(r.Exchange > 2.12 && r.Exchange < 2.13) { // what the documents say of ε = 1 and δ = 1e-6
		t.Errorf("ε = 1 is %g in terms of exchange", r.Exchange)
	}
	in.Guarantee.Unit, in.Period = protection.Event{Exchange: dp.AddRemove}, steps.Clock{}
	if r := clock.New(in); r.Period != nil {
		t.Errorf("an event has periods: %+v", r.Period)
	}
}

// TestToldEventsAddUp checks δ over periods of a guarantee with told events, which its table has too.
func TestToldEventsAddUp(t *testing.T) {
	in := daily()
	in.Guarantee = protection.Guarantee{
		Terms:     protection.Terms{Scope: protection.PerStep{}, Unit: protection.UserPeriod{PeriodSteps: 24, Values: 2}},
		Mechanism: "once-laplace", Epsilon: 1, Delta: 0.75e-6, Told: 0.75e-6,
	}
	r := clock.New(in)
	for i, n := range []float64{1, 7, 30, 365} {
		if a := r.Period.Active[i]; float64(a.Epsilon) != n || math.Abs(float64(a.Delta)-n*0.75e-6) > 1e-18 {
			t.Errorf("%+v in %g periods", a, n)
		}
	}
	if text := r.Rows().String(); !strings.Contains(text, "\n  δ ") || !strings.Contains(text, "0.0002738") {
		t.Error(text)
	}
}

// TestFirstStepContainsTheOpening checks numbers and times of the first step, of hours and of weeks from Monday.
func TestFirstStepContainsTheOpening(t *testing.T) {
	in := daily()
	r := clock.New(in)
	at := func(hour, second int) time.Time { return time.Date(2026, 11, 30, hour, 0, second, 0, time.UTC) }
	if f := r.First; f.Step != uint64(in.Opening.Unix()/3600) || !f.Begin.Equal(at(14, 0)) ||
		!f.End.Equal(at(15, 0)) || !f.Decision.Equal(at(15, 5)) {
		t.Errorf("%+v", f)
	}
	if r.Decisions != 24 || r.DayBytes != 24*600 || r.Outage.Decisions != 1 || r.Outage.Bytes != 600 ||
		r.Outage.Seconds.Known() {
		t.Errorf("%+v", r)
	}
	in.Clock = steps.Clock{Length: 7 * steps.Day, Offset: 4 * steps.Day}
	r = clock.New(in)
	if f := r.First; !f.Begin.Equal(at(0, 0)) || !f.End.Equal(at(0, 0).AddDate(0, 0, 7)) ||
		r.Decisions != 1./7 || r.Outage.Decisions != 1 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.Title(), "one decision in 7 d") {
		t.Error(r.Title())
	}
	in.Clock = steps.Clock{Length: 1}
	if r = clock.New(in); r.Outage.Decisions != 3600 || r.Outage.Bytes != 3600*600 || r.Decisions != 86400 {
		t.Errorf("%+v", r)
	}
}

// TestOrderLogOfADay compares the sizes with those of records that a sequencer would write, in their batches.
func TestOrderLogOfADay(t *testing.T) {
	r := clock.New(daily())
	size := func(partitions int) float64 {
		record := order.Record{Slot: 1_795_000_000}
		for p := range partitions {
			record.Entries = append(record.Entries, order.Entry{Partition: int32(p), End: 1 << 34, Epoch: 7})
		}
		return 86400 * float64(61+8+len(order.Log{}.Append(nil, record)))
	}
	if idle := float64(r.OrderIdle); idle != size(0) || idle < 9e6 || idle > 9.5e6 {
		t.Errorf("%g bytes a day idle, want %g", idle, size(0))
	}
	busy := float64(r.OrderIdle + 64*r.OrderEntry)
	if busy != size(64) || busy < 47e6 || busy > 49e6 || math.Abs(float64(r.OrderBytes)-busy) > 1e-6*busy {
		t.Errorf("%g bytes a day with 64 busy partitions, %g at a high rate, want %g", busy, r.OrderBytes, size(64))
	}
}

// TestTextOfTheClock checks that people and programs read the same figures.
func TestTextOfTheClock(t *testing.T) {
	in := daily()
	in.Named = true
	r := clock.New(in)
	text := r.Title() + "\n" + r.Text() + r.PeriodTitle() + "\n" + r.Rows().String()
	for _, want := range []string{
		"Steps by the clock: 1 h each, 24 decisions a day", "first step of the stream, by ORIEL_START: 498902, from 2026-11-30T14:00:00Z to 2026-11-30T15:00:00Z",
		"published at 2026-11-30T15:00:05Z", "add/remove ε = 1 is at most 2.123 in terms of exchange",
		"it is the field's usual definition",
		"message.timestamp.type=LogAppendTime", "an hour of outage costs afterwards 1 decision, 600 B\n",
		"in 64 partitions. Keep it as long as the input",
		"periods of 1 d", "365", "up to 36 bytes for each user of a period", "34.3 MiB for a million users",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	object, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"step_seconds":3600`, `"begin":"2026-11-30T14:00:00Z"`, `"decisions_a_day":24`, `"periods":365`, `"seconds":null`, `"by_setting":true`, `"memory_bytes_a_user":36`} {
		if !strings.Contains(string(object), want) {
			t.Errorf("no %s in %s", want, object)
		}
	}
}
