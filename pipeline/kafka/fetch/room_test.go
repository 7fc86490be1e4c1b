package fetch

import (
	"iter"
	"runtime"
	"slices"
	"testing"

	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
)

// TestLargeContentsAreUnpackedIntoTheSameMemory checks that the memory of a batch decompressed with gzip, snappy or LZ4
// is reused, even if the contents end before the compressed bytes do.
func TestLargeContentsAreUnpackedIntoTheSameMemory(t *testing.T) {
	for _, codec := range []records.Codec{records.Gzip, records.Snappy, records.LZ4, records.Zstd} {
		for room, contents := range map[int]int{memory.LargeBytes: 6 << 20, memory.HugeBytes: 40 << 20} {
			r := local(0, recordstest.Appended(t, recordstest.Build(codec, []records.Record{{Value: make([]byte, contents)}}),
				0, records.Stamp{}))
			var b Batch
			if err := r.fill(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			value := b.Records[0].Value // kept alive, so that the runtime cannot collect the buffer
			b.Release()
			r.drop()
			again := r.client.Buffers().Get(room)
			memory := again.B[:64] // the value starts within the first 64 bytes
			if !slices.ContainsFunc(slices.Collect(addresses(memory)), func(at *byte) bool { return at == &value[0] }) {
				t.Errorf("%s: the %d bytes did not come back", codec, room)
			}
			runtime.KeepAlive(value)
		}
	}
}

// addresses yields the addresses of all bytes.
func addresses(memory []byte) iter.Seq[*byte] {
	return func(yield func(*byte) bool) {
		for i := range memory {
			if !yield(&memory[i]) {
				return
			}
		}
	}
}
