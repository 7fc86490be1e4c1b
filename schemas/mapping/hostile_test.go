package mapping_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
)

// TestReadingDamagedRecords checks that reading any JSON record neither panics nor allocates: 10^8 damaged records in
// the long tier.
func TestReadingDamagedRecords(t *testing.T) {
	paths := mappingtest.Distinct(mappingtest.Paths(
		t, "/id", "/order/total", "/order/lines/0/x", "/order/lines/1", "/at", "/~0~1",
	))
	source, err := mapping.JSON(event.UnknownIsFree)(paths)
	if err != nil {
		t.Fatal(err)
	}
	records := [][]byte{
		[]byte(`{"id":"\u00e4b","order":{"total":-1.5e3,"lines":[{"x":true},"y"]},"at":null,"more":[1,{"a":""}]}`),
		[]byte(`{"order":{"lines":[[],7],"total":"12"},"~/":"\ud83d\ude00","at":1700000000}`),
	}
	long := `{"id":"\n` + strings.Repeat("a", 256) + `"}` // grows the buffer once, to the longest escaped text
	source.Fill(make([]mapping.Value, len(paths)), []byte(long))
	r := rand.New(rand.NewPCG(1, 31))
	for range tiertest.Runs(250, 25_000) {
		mappingtest.ReadDamaged(t, r, source, paths, records)
	}
}
