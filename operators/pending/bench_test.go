package pending

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// BenchmarkStep measures putting a row, taking another, and asking for expired rows, in a full table.
func BenchmarkStep(b *testing.B) {
	for _, capacity := range []int{16, 1024} {
		c := Config{Capacity: capacity, Width: 33, Name: 8, Timeout: uint64(capacity)}
		b.Run(fmt.Sprintf("rows=%d", capacity), func(b *testing.B) {
			table, values := newTable(b, c), make([]float64, c.Width)
			var name [8]byte
			b.ReportAllocs()
			for step := uint64(0); b.Loop(); step++ {
				for _, some := table.Expired(step); some; _, some = table.Expired(step) {
				}
				binary.BigEndian.PutUint64(name[:], step)
				table.Put(name[:], step, values)
				binary.BigEndian.PutUint64(name[:], step-uint64(capacity)/2)
				table.Take(name[:], step)
			}
		})
	}
}

func BenchmarkRestore(b *testing.B) {
	c := Config{Capacity: 64, Width: 33, Name: 8, Timeout: 64}
	table, values := newTable(b, c), make([]float64, c.Width)
	var name [8]byte
	for step := range uint64(64) {
		binary.BigEndian.PutUint64(name[:], step)
		table.Put(name[:], step, values)
	}
	state := table.AppendState(nil)
	b.SetBytes(int64(len(state)))
	b.ReportAllocs()
	for b.Loop() {
		if err := table.Restore(state); err != nil {
			b.Fatal(err)
		}
	}
}
