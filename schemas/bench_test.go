package schemas

import (
	"fmt"
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
	for e, name := range Encodings {
		for _, size := range []int{32, 1024} {
			b.Run(fmt.Sprintf("encoding=%s/d=%d", name, size), func(b *testing.B) {
				d := decisionOf(size, Encoding(e))
				encoder := NewEncoder(d.DecisionConfig, nil)
				dst := encoder.Append(nil, d.Index, d.Step, d.Point, nil)
				b.SetBytes(int64(len(dst)))
				b.ReportAllocs()
				for b.Loop() {
					dst = encoder.Append(dst[:0], d.Index, d.Step, d.Point, nil)
				}
			})
		}
	}
}

func BenchmarkParseDecision(b *testing.B) {
	for e, name := range Encodings {
		b.Run("encoding="+name, func(b *testing.B) {
			d := decisionOf(32, Encoding(e))
			record := NewEncoder(d.DecisionConfig, nil).Append(nil, d.Index, d.Step, d.Point, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseDecision(record); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// decisionOf returns a decision with size coordinates of 16 or 17 digits.
func decisionOf(size int, e Encoding) Decision {
	rng := rand.New(rand.NewPCG(1, 2))
	d := testDecision
	d.Index, d.Step, d.Encoding, d.Point = 1<<40, 1<<40, e, make([]float64, size)
	for k := range d.Point {
		d.Point[k] = rng.NormFloat64() / 8
	}
	return d
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
