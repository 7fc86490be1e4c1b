package aggregate

import (
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// kinds are specifications that together use every feature.
var kinds = []struct {
	name  string
	m     func(batch uint64) mechanisms.Config
	lines []string
}{
	{"life", func(b uint64) mechanisms.Config { return life(8, b) }, []string{
		"CELLS=carrier=UA|AA|DL,hour=0:24:4", "VALUE=delay=-60:180", "STATISTICS=count,sum,mean*0.5,variance",
		"MEMORIES=4,8,64",
		"INCREMENTS=true", "ELSEWHERE=other", "WEIGHT_MAX=2",
	}},
	{"life, every second", func(b uint64) mechanisms.Config { return life(8, b) }, []string{
		"CELLS=carrier=UA|AA", "MEMORIES=4", "INCREMENTS=true", "EMIT_EVERY=2",
	}},
	{"total", total, []string{
		"CELLS=carrier=UA|AA|DL,hour=0:24:4", "VALUE=delay=-60:180", "STATISTICS=mean",
		"EMIT_EVERY=2",
	}},
	{"weights up to 1", total, []string{"CELLS=carrier=UA|AA", "WEIGHT_MAX=1"}},
	{"tumbling", tumbling, []string{"VALUE=delay=-60:180", "STATISTICS=count,variance*2,sum"}},
	{"quantiles and arms", func(b uint64) mechanisms.Config { return life(8, b) }, []string{
		"CELLS=variant=a|b|c,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=p50*0.5,mean,p99.9,count,variance", "BINS=10",
		"MEMORIES=4,8", "INCREMENTS=true", "EMIT_EVERY=2", "ELSEWHERE=other", "WEIGHT_MAX=2", "ARMS=variant",
	}},
	{"quantiles alone", func(b uint64) mechanisms.Config {
		m := tumbling(b)
		m.Budget.Epsilon = 400 // a large ε, so that decisions show the counts
		return m
	}, []string{"VALUE=delay=-60:180", "STATISTICS=p10,p90", "BINS=40"}},
	{"whole numbers", func(b uint64) mechanisms.Config { return discrete(9, b) }, []string{
		"CELLS=carrier=UA|AA", "VALUE=delay=-60:180", "STATISTICS=count,variance,p50", "BINS=8", "INCREMENTS=true",
	}},
	{"an experiment for life", func(b uint64) mechanisms.Config { return life(8, b) }, []string{
		"CELLS=variant=a|b|c,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=count,mean,variance", "ARMS=variant",
		"ALWAYS_VALID=0.1", "PROPENSITIES=0.5|0.25|0.25", "NEAR=10", "TARGET=1000", "UNITS=single", "EXPERIMENT_STEP=3",
		"EMIT_EVERY=2", "INCREMENTS=true",
	}},
	{"an experiment over totals", total, experimental("TARGET=1000", "EXPERIMENT_STEP=1,5,7")},
}

// drawn returns random events of the specification, some of them outside its cells.
func drawn(s *specification, count int, seed uint64) []event.Event {
	rng := rand.New(rand.NewPCG(seed, 3))
	events := make([]event.Event, count)
	for i := range events {
		for _, d := range s.dimensions {
			x := float64(rng.IntN(d.Size()+1)) - 1
			if d.Choices == nil {
				x = d.From + (d.To-d.From)*(1.2*rng.Float64()-0.1)
			}
			events[i].Numbers = append(events[i].Numbers, x)
		}
		if s.value != "" {
			events[i].Numbers = append(events[i].Numbers, s.low+(s.high-s.low)*(1.4*rng.Float64()-0.2))
		}
		if s.weightMax > 0 {
			events[i].Weight = 3 * rng.Float64()
		}
	}
	return events
}

func TestConformance(t *testing.T) {
	batches := []uint64{1, 3}
	for i, kind := range kinds {
		for _, batch := range tiertest.Runs(batches[i%2:i%2+1], batches) {
			c, m := config(t, kind.m(batch), kind.lines...)
			t.Run(kind.name, func(t *testing.T) {
				optest.Run(t, optest.Of(t, c, m), drawn(&c.spec, 30, batch))
			})
		}
	}
}
