package decision

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkAppendDecision(b *testing.B) {
	for e, name := range Encodings {
		for _, size := range []int{32, 1024} {
			b.Run(fmt.Sprintf("encoding=%s/d=%d", name, size), func(b *testing.B) {
				d := decisionOf(size, Encoding(e))
				encoder := NewEncoder(d.Config, nil)
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
			record := NewEncoder(d.Config, nil).Append(nil, d.Index, d.Step, d.Point, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(record); err != nil {
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
