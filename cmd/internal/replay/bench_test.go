package replay_test

import (
	"syscall"
	"testing"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// BenchmarkTake measures the whole processing of one record without Kafka: decode six named features, gradient, hash
// chain, noise, projection, encode 32 coordinates.
func BenchmarkTake(b *testing.B) {
	for _, encoding := range decision.Encodings {
		b.Run("decisions="+encoding, func(b *testing.B) {
			take(b, named, "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball",
				"ORIEL_RADIUS=5", "ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=0.001",
				"ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic,month:1:13:cyclic", "ORIEL_MECHANISM=tree-gaussian",
				"ORIEL_WINDOW=1024", "ORIEL_CLIP=1", "ORIEL_DECISIONS_FORMAT="+encoding)
		})
	}
}

// BenchmarkOneStream measures the work of one stream that cannot be distributed over more cores, with blt for an
// unlimited lifetime. One goroutine decodes the events ahead of another that does the rest of the work of
// BenchmarkTake. The figures are processor time, because other programs may use the cores in between. `oriel plan`
// computes its throughput limit from them (cmd/internal/plan/rates/ceiling.go).
func BenchmarkOneStream(b *testing.B) {
	for _, batch := range []string{"1", "64", "4096"} {
		life := []string{"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=65536", "ORIEL_BATCH=" + batch}
		b.Run("coco/"+batch, func(b *testing.B) {
			takeDecoded(b, named, append(life, "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic",
				"ORIEL_SET=l2-ball", "ORIEL_RADIUS=5", "ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=0.001", "ORIEL_CLIP=1",
				"ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic,month:1:13:cyclic")...)
		})
		b.Run("aggregate/"+batch, func(b *testing.B) {
			takeDecoded(b, row, append(life, "ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=carrier=AA|DL|UA,hour=0:24:24",
				"ORIEL_VALUE=delay=-60:180", "ORIEL_STATISTICS=count,mean")...)
		})
	}
}

const (
	named = `{"features":{"carrier":"UA","origin":"EWR","dest":"IAH","hour":5,"month":1,"distance":1400},"label":1}`
	row   = `{"carrier":"UA","hour":7,"delay":12}`
)

// take measures steps over copies of one event, at ε = 1.
func take(b *testing.B, event string, lines ...string) {
	b.Helper()
	walk, length := walkOf(b, lines)
	batch := fetch.Batch{Records: make([]records.Record, 1)}
	b.ReportAllocs()
	before := processor(b)
	for i := int64(0); b.Loop(); i++ {
		refill(&batch, i, event)
		if err := walk.Take(&batch, func() int64 { return batch.Next }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/event")
	b.ReportMetric(float64(*length)/float64(b.N), "B/event")
}

// takeDecoded first decodes a batch of events and then steps over it, as the two goroutines of a stream do.
func takeDecoded(b *testing.B, event string, lines ...string) {
	b.Helper()
	walk, _ := walkOf(b, lines)
	ahead, err := walk.Stream.NewAhead()
	if err != nil {
		b.Fatal(err)
	}
	const size = 1 << 10
	batch := fetch.Batch{Records: make([]records.Record, size)}
	var decoding, walking time.Duration
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		refill(&batch, size*i, event)
		before := processor(b)
		events := ahead.Decode(&batch)
		between := processor(b)
		err := walk.TakeDecoded(&batch, events, func() int64 { return batch.Next })
		decoding, walking = decoding+between-before, walking+processor(b)-between
		if events.Release(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(decoding)/float64(b.N)/size, "decode-ns/event")
	b.ReportMetric(float64(walking)/float64(b.N)/size, "walk-ns/event")
}

// refill fills a batch with copies of one event, at consecutive offsets.
func refill(batch *fetch.Batch, from int64, event string) {
	batch.From, batch.Next = from, from+int64(len(batch.Records))
	value := []byte(event)
	for i := range batch.Records {
		batch.Records[i] = records.Record{Public: records.Public{Offset: from + int64(i)}, Value: value}
	}
}

// walkOf returns a walk with these settings, at ε = 1, before its first record. It also returns a counter of the bytes
// of decisions that the walk writes.
func walkOf(b *testing.B, lines []string) (*streams.Walk, *int) {
	b.Helper()
	s, err := settings.Load(append(lines, "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6"), settings.Events, settings.Operator)
	if err != nil {
		b.Fatal(err)
	}
	model := s.Model()
	plan, err := model.Learner.Params()
	if err != nil {
		b.Fatal(err)
	}
	stream, err := streams.OpenStream(model, plan, [32]byte{1}, [32]byte{}, "0", [16]byte{2})
	if err != nil {
		b.Fatal(err)
	}
	length := new(int)
	return &streams.Walk{
		Stream:  stream,
		Decided: func(_ uint8, _, line []byte) { *length += len(line) },
		Taken: func(_ *records.Record, _ int64, code text.Code) {
			if code != text.OK {
				b.Fatal(code)
			}
		},
	}, length
}

// processor returns the processor time that the process has used.
func processor(b testing.TB) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
