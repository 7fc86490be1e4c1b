package rates

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/order"
)

// TestAWholeTopicClosesStepsAsOftenAsAllPartitions checks that the window of a whole topic is shorter in time than a
// partition's by the number of partitions. The advised setting must restore the durations of a partition's stream, as
// far as mechanism and users allow.
func TestAWholeTopicClosesStepsAsOftenAsAllPartitions(t *testing.T) {
	twelve := Partitions{Count: 12, Rate: 1200, Interval: 100 * time.Millisecond}
	streams := func(change func(*mechanisms.Config)) *Streams {
		c := mechanisms.Config{
			Name: "blt", Batch: 1,
			Terms: protection.Terms{Scope: protection.Window{Steps: 1024}, Unit: protection.Event{Exchange: dp.Replace}},
		}
		change(&c)
		return StreamsOf(c, twelve)
	}
	s := streams(func(*mechanisms.Config) {})
	if math.Abs(float64(s.Topic.Window)-1024./1200) > 1e-12 || math.Abs(float64(s.Partition.Window)-10.24) > 1e-9 {
		t.Errorf("windows of %v and %v seconds", s.Topic.Window, s.Partition.Window)
	}
	if s.SameSteps != 12*1024 || s.SameBatch != 12 || s.Topic.Memory.Known() || s.Topic.Life.Known() {
		t.Errorf("%+v", s)
	}
	if s := streams(func(c *mechanisms.Config) { c.Name = "tree-gaussian" }); s.SameSteps != 16384 {
		t.Errorf("a tree's window of %v steps", s.SameSteps)
	}
	if s := streams(func(c *mechanisms.Config) { c.Scope = protection.Decay{Steps: 60} }); s.SameSteps != 720 ||
		math.Abs(float64(s.Topic.Memory)-0.05) > 1e-12 || !strings.Contains(s.Advice(), "set ORIEL_MEMORY=720,") {
		t.Errorf("%+v: %s", s, s.Advice())
	}
	for _, c := range []struct {
		change func(*mechanisms.Config)
		says   string
	}{
		{func(c *mechanisms.Config) {
			c.Scope, c.Batch = protection.Window{Steps: 1 << 20}, 4
		}, "set ORIEL_BATCH=48, which publishes fewer decisions, because ORIEL_WINDOW is at most 4194304"},
		{func(c *mechanisms.Config) {
			c.Unit = protection.User{Separation: 65536}
		}, "at most 131072 for the whole topic, 1 min 49 s"},
		{func(c *mechanisms.Config) {
			c.Name, c.Scope = "once-gaussian", protection.PerStep{}
		}, "With ORIEL_BATCH=12 it closes as many as one of them does"},
	} {
		if s := streams(c.change); !strings.Contains(s.Advice(), c.says) {
			t.Errorf("%q is not said: %s", c.says, s.Advice())
		}
	}
	for _, known := range []Partitions{{}, {Count: 1, Rate: 7}, {Count: 12}} {
		if s := StreamsOf(mechanisms.Config{}, known); s != nil {
			t.Errorf("%+v: %+v", known, s)
		}
	}
	for _, c := range []struct {
		p    Partitions
		rate float64
	}{{Partitions{Rate: 9}, 9}, {Partitions{Rate: 9, Count: 3}, 3}, {Partitions{Rate: 9, Count: 3, WholeTopic: true}, 9}} {
		if got := c.p.Of(); got != c.rate {
			t.Errorf("%+v: a stream has %g events a second, want %g", c.p, got, c.rate)
		}
	}
}

// TestTheOrderLogGrowsAsPlanned simulates intervals, with an entry for each partition that received an event since the
// previous interval. The mean number of bytes may differ from the plan by 6.11 standard errors (a chance of 1e-9), plus
// 2 % for numbers with more or fewer digits than planned.
func TestTheOrderLogGrowsAsPlanned(t *testing.T) {
	for _, p := range []Partitions{
		{Count: 3, Rate: 2, Interval: 100 * time.Millisecond},
		{Count: 12, Rate: 60, Interval: 100 * time.Millisecond},
		{Count: 200, Rate: 100_000, Interval: time.Second},
	} {
		const ticks = 3000
		random := rand.New(rand.NewPCG(1, uint64(p.Count)))
		each := p.Rate * p.Interval.Seconds() / float64(p.Count)
		sum, squares := 0.0, 0.0
		for range ticks {
			var entries []order.Entry
			for partition := range int32(p.Count) {
				if random.Float64() < 1-math.Exp(-each) {
					entries = append(entries, order.Entry{Partition: partition, End: 1e10, Epoch: 12})
				}
			}
			if len(entries) > 0 {
				var b records.Builder
				b.Append(nil, order.Log{}.Append(nil, order.Record{Slot: 1_800_000_000, Entries: entries}), nil, 0)
				sum, squares = sum+float64(b.Bytes()), squares+float64(b.Bytes())*float64(b.Bytes())
			}
		}
		mean := sum / ticks
		off := 6.11*math.Sqrt((squares/ticks-mean*mean)/ticks) + 0.02*mean
		planned := p.orderBytes() * p.Interval.Seconds() / (24 * time.Hour).Seconds()
		if math.Abs(mean-planned) > off {
			t.Errorf("%+v: %g bytes a tick are planned, %g ± %g come", p, planned, mean, off)
		}
	}
}
