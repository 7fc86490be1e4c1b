package avro

import (
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/mapping/mappingtest"
)

// TestReadingDamagedRecords checks that reading any record neither panics nor allocates: 10^8 damaged records in the
// long tier.
func TestReadingDamagedRecords(t *testing.T) {
	for seed := range uint64(tiertest.Runs(100, 25_000)) {
		d := &drawer{Rand: rand.New(rand.NewPCG(seed, 31))}
		s := parse(t, d.record(3))
		paths := d.paths(s.root, 24)
		source, err := s.Open(paths)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		records := make([][]byte, 20)
		for i := range records {
			records[i] = append(d.value(nil, s.root, 6), 0)
		}
		mappingtest.ReadDamaged(t, d.Rand, source, paths, records)
	}
}
