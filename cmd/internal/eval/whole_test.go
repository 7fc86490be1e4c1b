package eval

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
)

var flightsFile = flag.String("flights", "", "flights.csv with tailnum, for the long form of TestAWholeTopicIsOneStream")

// ranges is the order of a whole topic's records, in the form of its order log: ranges of partitions, one after
// another.
type ranges []orderedRange

type orderedRange struct {
	partition int32
	from, to  int64
}

// drawRanges draws a random order of partitions with these numbers of records. Each order record takes a random number
// of next records, possibly none, of each partition.
func drawRanges(rng *rand.Rand, lengths []int) (all ranges, last []bool) {
	next := make([]int64, len(lengths))
	for left := true; left; {
		left = false
		first := len(all)
		for p, length := range lengths {
			to := min(int64(length), next[p]+int64(rng.IntN(60)))
			if to > next[p] {
				all = append(all, orderedRange{int32(p), next[p], to})
				last = append(last, false)
			}
			next[p] = to
			left = left || to < int64(length)
		}
		if len(all) > first {
			last[len(last)-1] = true
		}
	}
	return all, last
}

// played returns the decisions of a model's stream under a seed, line by line.
func played(t *testing.T, m streams.Model, seed int, partitions [][][]byte, order ranges, last []bool) (out []string) {
	t.Helper()
	params, err := m.Learner.Params()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := streams.OpenModel(m, params)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := open(m, params, opened, 0, seed)
	if err != nil {
		t.Fatal(err)
	}
	walk := &streams.Walk{
		Stream: stream, Decided: func(_ uint8, _, line []byte) { out = append(out, string(line)) },
		Taken: func(*records.Record, int64, text.Code) {},
	}
	if len(partitions) > 1 {
		walk.Position.Order = &state.Ordered{}
	}
	record := int64(0)
	for i, r := range order {
		b := fetch.Batch{Partition: r.partition, Shift: walk.Position.Next - r.from, From: r.from, Next: r.to}
		if walk.Position.Order != nil {
			b.Order = &fetch.Order{Record: record, End: r.to}
			if last[i] {
				b.Order.Done = new(fetch.Done)
			}
		}
		for at := r.from; at < r.to; at++ {
			b.Records = append(b.Records, records.Record{Public: records.Public{Offset: at}, Value: partitions[r.partition][at]})
		}
		if err := walk.Take(&b, func() int64 { return streams.Untaken }); err != nil {
			t.Fatal(err)
		}
		if last[i] {
			record++
		}
	}
	return out
}

// lateFlights returns events of flights by partition: either some of the demo's flights, partitioned by destination, or
// all flights of the file in -flights, partitioned by tail number.
func lateFlights(t *testing.T, partitions int) (all [][][]byte) {
	t.Helper()
	all = make([][][]byte, partitions)
	n, most := 0, tiertest.Runs(3000, math.MaxInt)
	each := func(column func(name string) string, late float64) {
		if n++; n > most {
			return
		}
		key := column("carrier") + column("origin") + column("dest")
		if *flightsFile != "" {
			key = column("tailnum")
		}
		label := -1
		if late > 15 {
			label = 1
		}
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(key))
		p := hash.Sum32() % uint32(partitions)
		all[p] = append(all[p], fmt.Appendf(nil, `{"features":{"carrier":%q,"origin":%q,"hour":%s,"distance":%s},"label":%d}`,
			column("carrier"), column("origin"), column("hour"), column("distance"), label))
	}
	if *flightsFile != "" {
		repotest.EachFlight(t, *flightsFile, each)
	} else {
		repotest.EachDemoFlight(t, each)
	}
	return all
}

// lateSettings returns the settings of the example in operators/coco/README.md at ε = 1 for life.
func lateSettings(t *testing.T) settings.Settings {
	t.Helper()
	s, err := settings.Load([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=5.8e-5", "ORIEL_START_REGULARIZER=58", "ORIEL_EPSILON=1",
		"ORIEL_DELTA=1e-6", "ORIEL_CLIP=1", "ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=65536",
	}, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAWholeTopicIsOneStream covers flights in twelve partitions that an order log makes one stream. Without noise, its
// decisions must have the bytes of a topic with one partition and the records in the merged order. With noise, they
// must equal the decisions of the machine alone, if it gets each record in this order under its identity in its own
// partition. Noise is a function of these identities, so no other topic has the same noise.
//
//	TEST_LONG=1 go test ./cmd/internal/eval -run TestAWholeTopicIsOneStream -flights flights.csv
func TestAWholeTopicIsOneStream(t *testing.T) {
	partitions := lateFlights(t, 12)
	lengths := make([]int, len(partitions))
	for p := range partitions {
		lengths[p] = len(partitions[p])
	}
	order, last := drawRanges(rand.New(rand.NewPCG(12, 1)), lengths)
	var merged [][]byte
	for _, r := range order {
		merged = append(merged, partitions[r.partition][r.from:r.to]...)
	}
	s := lateSettings(t)
	silent, err := withoutNoise(s)
	if err != nil {
		t.Fatal(err)
	}
	whole := played(t, silent, 1, partitions, order, last)
	one := played(t, silent, 1, [][][]byte{merged}, ranges{{to: int64(len(merged))}}, []bool{true})
	if len(whole) != len(merged) || !slices.Equal(whole, one) {
		t.Errorf("%d decisions of the whole topic, %d of one partition, or others", len(whole), len(one))
	}

	model := s.Model()
	machine := alone(t, s, model)
	counted := operators.ByCount(machine)
	decoder, err := event.NewJSONDecoder(model.Events)
	if err != nil {
		t.Fatal(err)
	}
	noisy, at := played(t, model, 1, partitions, order, last), 0
	if slices.Equal(noisy, whole) {
		t.Error("noise moves no decision")
	}
	var event event.Event
	var made []operators.Decision
	for _, r := range order {
		for offset := r.from; offset < r.to; offset++ {
			if code := decoder.Decode(&event, partitions[r.partition][offset]); code != text.OK {
				t.Fatal(code)
			}
			made = counted.Add(made[:0], operators.Record{
				Event: event, Identity: noise.Identity{Partition: r.partition, Offset: offset},
			})
			var said struct {
				Decision []float64 `json:"decision"`
			}
			if err := json.Unmarshal([]byte(noisy[at]), &said); err != nil {
				t.Fatal(err)
			}
			if at++; !slices.Equal(said.Decision, made[0].Point) {
				t.Fatalf("step %d: %v, the operator alone %v", at, said.Decision, made[0].Point)
			}
		}
	}
}

// alone returns the machine of stream 0 under seed 1, without streams.Walk.
func alone(t *testing.T, s settings.Settings, m streams.Model) operators.Machine {
	t.Helper()
	learner := s.Learner()
	params, err := m.Learner.Params()
	if err != nil {
		t.Fatal(err)
	}
	machines, err := learner.Open(params)
	if err != nil {
		t.Fatal(err)
	}
	_, key := seeded(m, params, 0, 1)
	machine, err := machines(key)
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// TestAggregateOverPartitionsHasTheNoiseOfOne compares the noise of counts of 256 cells over 64 partitions: as one
// stream, and as 64 streams whose counts are added. All events are null, so counts are pure noise. The one stream must
// have the noise of a topic with one partition, and the sum of 64 streams eight times as much. With a probability of 1
// − 10⁻⁹, each root mean square of 256 counts is within 6.11/√512 = 27 % of its expectation.
func TestAggregateOverPartitionsHasTheNoiseOfOne(t *testing.T) {
	const partitions, each = 64, 64
	s, err := settings.Load([]string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=place=0:256:256", "ORIEL_STATISTICS=count", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=64", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_EMIT_EVERY=64",
	}, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	model := s.Model()
	counts := func(seed, partitions, each int) []float64 {
		records, order, last := make([][][]byte, partitions), ranges(nil), []bool(nil)
		for p := range records {
			records[p] = make([][]byte, each)
			order, last = append(order, orderedRange{int32(p), 0, int64(each)}), append(last, true)
		}
		said := played(t, model, seed, records, order, last)
		var d struct {
			Decision []float64 `json:"decision"`
		}
		if err := json.Unmarshal([]byte(said[len(said)-1]), &d); err != nil || len(d.Decision) != 256 {
			t.Fatal(len(d.Decision), err)
		}
		return d.Decision
	}
	rms := func(v []float64) float64 { return math.Sqrt(floats.Dot(v, v) / float64(len(v))) }
	whole, one, sum := counts(1, partitions, each), counts(2, 1, partitions*each), make([]float64, 256)
	for p := range partitions {
		floats.Add(sum, counts(3+p, 1, each))
	}
	t.Logf("noise of a count: %.3g of the whole topic, %.3g of one partition, %.3g of %d streams", rms(whole), rms(one),
		rms(sum), partitions)
	for _, c := range []struct{ got, want float64 }{{rms(whole), rms(one)}, {rms(sum), 8 * rms(whole)}} {
		if ratio := c.got / c.want; ratio > 1.27/0.73 || ratio < 0.73/1.27 {
			t.Errorf("noise of %g, want %g", c.got, c.want)
		}
	}
}
