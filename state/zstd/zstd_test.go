package zstd

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestBlocksComeBackAndStayInTheirBuffer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := NewCtx()
	for _, n := range []int{1, 2, 100, 4096, 100_000, 1 << 20} {
		for _, level := range []int{1, 3, 9} {
			for _, alphabet := range []int{1, 4, 256} {
				src := make([]byte, n)
				for i := range src {
					src[i] = byte(random.IntN(alphabet))
				}
				room := make([]byte, CompressBound(n))
				packed, err := c.CompressLevel(room, src, level)
				if err != nil || &packed[0] != &room[0] {
					t.Fatalf("n=%d level=%d: %v, or another buffer", n, level, err)
				}
				back := make([]byte, n)
				if _, err := c.DecompressInto(back, packed); err != nil || !bytes.Equal(back, src) {
					t.Fatalf("n=%d level=%d: %v, or other bytes", n, level, err)
				}
				if _, err := c.DecompressInto(make([]byte, n+1), packed); err == nil {
					t.Fatal("a block of another length is taken")
				}
			}
		}
	}
}
