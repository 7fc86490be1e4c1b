package replay_test

import (
	"testing"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas"
)

// BenchmarkTake is the whole step path of one record without Kafka: decode six named features, gradient, chain, noise,
// projection, encode 32 coordinates.
func BenchmarkTake(b *testing.B) {
	for _, encoding := range schemas.Encodings {
		b.Run("decisions="+encoding, func(b *testing.B) {
			benchmarkTake(b, flightRecords()["json"], "ORIEL_DECISIONS_FORMAT="+encoding)
		})
	}
}

func benchmarkTake(b *testing.B, record []byte, more ...string) {
	s, err := settings.Load(append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=0.001",
		"ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic,month:1:13:cyclic", "ORIEL_MECHANISM=tree-gaussian",
		"ORIEL_WINDOW=1024", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}, more...), settings.Events, settings.Operator)
	if err != nil {
		b.Fatal(err)
	}
	model, err := s.Model()
	if err != nil {
		b.Fatal(err)
	}
	plan, err := model.Learner.Params()
	if err != nil {
		b.Fatal(err)
	}
	stream, err := streams.OpenStream(model, plan, [32]byte{1}, [32]byte{}, "0", [16]byte{2})
	if err != nil {
		b.Fatal(err)
	}
	length := 0
	walk := streams.Walk{
		Stream:  stream,
		Decided: func(_ uint8, _, line []byte) { length += len(line) },
		Taken:   func(*records.Record, int64, schemas.Code) {},
	}
	batch := fetch.Batch{Records: make([]records.Record, 1)}
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		batch.From, batch.Next, batch.Records[0] = i, i+1, records.Record{Public: records.Public{Offset: i}, Value: record}
		if err := walk.Take(&batch, func() int64 { return batch.Next }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(length)/float64(b.N), "B/decision")
}
