package schemas

import (
	"math/rand/v2"
	"testing"
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
				if d.Decode(&e, value) != OK {
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
		doc = AppendFloat(doc, rng.NormFloat64())
	}
	doc = append(doc, `]}`...)
	d := newTestDecoder(b, EventConfig{Body: testBody("squared"), Dimension: 27, MaxBytes: 1 << 20, Features: FeatureConfig{Norm: "unit"}})
	var e Event
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if d.Decode(&e, doc) != OK {
			b.Fatal("not valid")
		}
	}
}

func BenchmarkAppendDecision(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, point := range []struct {
		name string
		size int
	}{{"d=32", 32}, {"d=1024", 1024}} {
		b.Run(point.name, func(b *testing.B) {
			x := make([]float64, point.size)
			for k := range x {
				x[k] = rng.NormFloat64() / 8
			}
			e := NewEncoder(testDecision.DecisionConfig, nil)
			dst := e.Append(nil, 1<<40, 1<<40, x, nil)
			b.SetBytes(int64(len(dst)))
			b.ReportAllocs()
			for b.Loop() {
				dst = e.Append(dst[:0], 1<<40, 1<<40, x, nil)
			}
		})
	}
}

func BenchmarkParseDecision(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 32)
	for k := range x {
		x[k] = rng.NormFloat64() / 8
	}
	line := NewEncoder(testDecision.DecisionConfig, nil).Append(nil, 7, 7, x, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseDecision(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendFloat(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 1<<17)
	for k := range x {
		x[k] = rng.NormFloat64() / 8
	}
	var dst []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		dst = AppendFloat(dst[:0], x[i%len(x)])
	}
}
