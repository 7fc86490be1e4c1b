package state

import (
	"fmt"
	"path/filepath"
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

func BenchmarkFollow(b *testing.B) {
	for _, length := range []int{1 << 12, 1 << 16} {
		b.Run(fmt.Sprintf("bytes=%d", length), func(b *testing.B) {
			s, err := Open(filepath.Join(b.TempDir(), "data"), testIdentity())
			if err != nil {
				b.Fatal(err)
			}
			records := []Record{{Key: make([]byte, 32), Value: make([]byte, length)}}
			b.SetBytes(int64(length))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Follow(0, records); err != nil {
					b.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkReopen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "data")
	for i := 0; b.Loop(); i++ {
		s, err := Open(dir, testIdentity())
		if err != nil {
			b.Fatal(err)
		}
		if i == 0 {
			for p := range int32(1000) {
				if err := s.Follow(p, []Record{{Key: make([]byte, 32), Value: make([]byte, 1<<14)}}); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
