package local

import (
	"fmt"
	"path/filepath"
	"testing"

	"oriel/state"
)

func BenchmarkFollow(b *testing.B) {
	for _, length := range []int{1 << 12, 1 << 16} {
		b.Run(fmt.Sprintf("bytes=%d", length), func(b *testing.B) {
			s, err := Open(filepath.Join(b.TempDir(), "data"), testIdentity())
			if err != nil {
				b.Fatal(err)
			}
			records := []state.Record{{Key: make([]byte, 32), Value: make([]byte, length)}}
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
				if err := s.Follow(p, []state.Record{{Key: make([]byte, 32), Value: make([]byte, 1<<14)}}); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
