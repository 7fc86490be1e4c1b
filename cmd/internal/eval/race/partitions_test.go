package race

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
)

// dealt is a source of events in several partitions, each of them a stream. Their events come in a random order.
type dealt struct {
	partitions []lines
	order      []int32 // the partition of each event
}

func (d dealt) Totals() (all []int64) {
	for _, events := range d.partitions {
		all = append(all, int64(len(events)))
	}
	return all
}

func (d dealt) Each(_ context.Context, f func(eval.Item) error) error {
	next := make([]int, len(d.partitions))
	for _, p := range d.order {
		item := eval.Item{Stream: p, Record: records.Record{
			Public: records.Public{Offset: int64(next[p])}, Value: []byte(d.partitions[p][next[p]]),
		}}
		next[p]++
		if err := f(item); err != nil {
			return err
		}
	}
	return nil
}

// dealtFlights returns all flights of the demo, partitioned by carrier and route.
func dealtFlights(t *testing.T, partitions int) dealt {
	t.Helper()
	d := dealt{partitions: make([]lines, partitions)}
	repotest.EachDemoFlight(t, func(column func(name string) string, late float64) {
		label := -1
		if late > 15 {
			label = 1
		}
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(column("carrier") + column("origin") + column("dest")))
		p := int32(hash.Sum32() % uint32(partitions))
		d.order = append(d.order, p)
		d.partitions[p] = append(d.partitions[p], fmt.Sprintf(
			`{"features":{"carrier":%q,"origin":%q,"hour":%s,"distance":%s},"label":%d}`,
			column("carrier"), column("origin"), column("hour"), column("distance"), label))
	})
	rand.New(rand.NewPCG(12, 2)).Shuffle(len(d.order), func(i, j int) { d.order[i], d.order[j] = d.order[j], d.order[i] })
	return d
}

// TestPartitionsLearnLess covers flights in twelve partitions at ε = 1 for life, with the settings of the example in
// operators/coco/README.md. One stream must keep more of the gain without noise than twelve streams, because each of the
// twelve learns from fewer flights with the same noise.
func TestPartitionsLearnLess(t *testing.T) {
	tiertest.Slow(t, "TestSeedsRepeatAndDiffer")
	all := dealtFlights(t, 12)
	var merged lines
	if err := all.Each(t.Context(), func(i eval.Item) error {
		merged = append(merged, string(i.Record.Value))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	in := eval.Input{Settings: []settings.Settings{load(t, "ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=5.8e-5",
		"ORIEL_START_REGULARIZER=58", "ORIEL_EPSILON=1", "ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic",
		"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=65536")}}
	one, twelve := evaluate(t, in, merged).Rows[0], evaluate(t, in, all).Rows[0]
	t.Logf("%d flights: one stream loses %.4f, twelve %.4f; without noise %.4f and %.4f", len(merged), one.Loss.Mean,
		twelve.Loss.Mean, one.WithoutNoise, twelve.WithoutNoise)
	if !(one.Loss.Mean+0.005 < twelve.Loss.Mean) {
		t.Error("twelve streams learn as well")
	}
}
