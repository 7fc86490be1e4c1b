package protobuf

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
		r := rand.New(rand.NewPCG(seed, 31))
		s := readText(t, drawSchema(r, syntaxes[seed%3]), "M0")
		paths := drawPaths(r, s.message, nil, 24)
		source, err := s.Open(paths)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		records := make([][]byte, 20)
		for i := range records {
			records[i] = append(drawRecord(r, s.message, 5), 0)
		}
		mappingtest.ReadDamaged(t, r, source, paths, records)
	}
}
