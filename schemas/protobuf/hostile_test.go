package protobuf

import (
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/mapping"
)

// Whatever a record holds, reading it neither panics nor allocates: 10^8 records with damage in the long tier.
func TestReadingDamagedRecords(t *testing.T) {
	const each = 2000
	for seed := range uint64(tiertest.Runs(250, 25_000)) {
		r := rand.New(rand.NewPCG(seed, 31))
		s := readText(t, drawSchema(r, syntaxes[seed%3]), "M0")
		paths := drawPaths(r, s.message, nil, 24)
		source, err := s.Open(paths)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		values := make([]mapping.Value, len(paths))
		records, damaged := make([][]byte, 20), make([]byte, 0, 1<<16)
		for i := range records {
			records[i] = append(drawRecord(r, s.message, 5), 0)
		}
		if n := testing.AllocsPerRun(1, func() {
			for i := range each {
				record := append(damaged[:0], records[i%len(records)]...)
				for range 1 + i%3 {
					record[r.IntN(len(record))] = byte(r.Uint32())
				}
				source.Fill(values, record[:max(len(record)-i%4, 0)])
			}
		}); n > 0 {
			t.Fatalf("seed %d: %v allocations", seed, n)
		}
	}
}
