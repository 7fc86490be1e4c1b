package event

import (
	"math/rand/v2"
	"testing"

	"oriel/schemas/text"
)

func BenchmarkDecode(b *testing.B) {
	names := map[string]string{namedDocument: "named=6", denseDocument: "dense=27", playDocument: "further=3"}
	for doc, d := range benchmarkDecoders(b) {
		b.Run(names[doc], func(b *testing.B) {
			value := []byte(doc)
			var e Event
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for b.Loop() {
				if d.Decode(&e, value) != text.OK {
					b.Fatal("not valid")
				}
			}
		})
	}
}

func BenchmarkDecodeDense17Digits(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	doc := []byte(`{"label":1,"features":[`)
	for k := range 27 {
		if k > 0 {
			doc = append(doc, ',')
		}
		doc = text.AppendFloat(doc, rng.NormFloat64())
	}
	doc = append(doc, `]}`...)
	d := newTestDecoder(b, Config{Body: testBody("squared"), Dimension: 27, MaxBytes: 1 << 20, Features: FeatureConfig{Norm: "unit"}})
	var e Event
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if d.Decode(&e, doc) != text.OK {
			b.Fatal("not valid")
		}
	}
}
