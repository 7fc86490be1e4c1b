package state

import (
	"fmt"
	"testing"
)

func BenchmarkSeal(b *testing.B) {
	for _, length := range []int{1 << 10, 1 << 12, 1 << 16} {
		b.Run(fmt.Sprintf("bytes=%d", length), func(b *testing.B) {
			s, machine := testSealer(b), make([]byte, length)
			var dst []byte
			b.SetBytes(int64(length))
			b.ReportAllocs()
			for b.Loop() {
				dst = s.Seal(dst[:0], testPosition(), machine)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	s := testSealer(b)
	value := s.Seal(nil, testPosition(), make([]byte, 1<<12))
	b.SetBytes(1 << 12)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.Open(value); err != nil {
			b.Fatal(err)
		}
	}
}
