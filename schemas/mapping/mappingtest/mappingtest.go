package mappingtest

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// Paths parses the texts of paths.
func Paths(t testing.TB, texts ...string) (paths []mapping.Path) {
	t.Helper()
	for _, text := range texts {
		p, err := mapping.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	return paths
}

// Distinct sorts paths and removes duplicates.
func Distinct(paths []mapping.Path) []mapping.Path {
	slices.SortFunc(paths, slices.Compare)
	return slices.CompactFunc(paths, slices.Equal)
}

// Left returns values that a previous record could have left; Fill must overwrite them.
func Left(n int) []mapping.Value {
	left := mapping.Value{Kind: mapping.Time, Local: true, Nanos: 5, Number: 4, Seconds: 3, Text: []byte("left")}
	return slices.Repeat([]mapping.Value{left}, n)
}

// Same fails the test unless the values at the paths of a record equal those of another reader, to the bit. NaN equals
// NaN.
func Same(t testing.TB, record []byte, paths []mapping.Path, got, want []mapping.Value) {
	t.Helper()
	for i := range paths {
		if !same(got[i], want[i]) {
			t.Fatalf("record %x: at %s: %+v, want %+v", record, paths[i], got[i], want[i])
		}
	}
}

func same(a, b mapping.Value) bool {
	number := math.Float64bits(a.Number) == math.Float64bits(b.Number) || math.IsNaN(a.Number) && math.IsNaN(b.Number)
	return a.Kind == b.Kind && a.Local == b.Local && number && a.Seconds == b.Seconds && a.Nanos == b.Nanos &&
		bytes.Equal(a.Text, b.Text)
}

// Damage changes, removes or adds a byte of a record.
func Damage(r *rand.Rand, record []byte) []byte {
	k := r.IntN(len(record))
	switch r.IntN(4) {
	case 0:
		return slices.Delete(record, k, k+1)
	case 1:
		return slices.Insert(record, k, byte(r.Uint32()))
	case 2:
		return record[:k]
	default:
		record[k] = byte(r.Uint32())
		return record
	}
}

// ReadDamaged reads 2000 damaged copies of records, with up to three bytes changed and up to three bytes cut off. It
// fails the test if the source allocates in both of two rounds, because the runtime may allocate in one.
func ReadDamaged(t testing.TB, r *rand.Rand, source mapping.Source, paths []mapping.Path, records [][]byte) {
	t.Helper()
	values, damaged := make([]mapping.Value, len(paths)), make([]byte, 0, 1<<16)
	round := func() {
		for i := range 2000 {
			record := append(damaged[:0], records[i%len(records)]...)
			for range 1 + i%3 {
				record[r.IntN(len(record))] = byte(r.Uint32())
			}
			source.Fill(values, record[:max(len(record)-i%4, 0)])
		}
	}
	if n := testing.AllocsPerRun(1, round); n > 0 && testing.AllocsPerRun(1, round) > 0 {
		t.Fatalf("%v allocations", n)
	}
}

// Code checks the code of a record, and that the source allocates nothing to find it.
func Code(t *testing.T, source mapping.Source, paths []mapping.Path, name, record string, want text.Code) {
	t.Helper()
	values, b := make([]mapping.Value, len(paths)), []byte(record)
	if got := source.Fill(values, b); got != want {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
	if n := testing.AllocsPerRun(10, func() { source.Fill(values, b) }); n > 0 {
		t.Errorf("%s: %v allocations", name, n)
	}
}
