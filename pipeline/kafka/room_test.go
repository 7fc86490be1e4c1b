package kafka

import (
	"iter"
	"runtime"
	"slices"
	"testing"
)

// TestLargeContentsAreUnpackedIntoTheSameMemory: of gzip, snappy and LZ4 the memory once did not come back, since what
// was unpacked ended before it did.
func TestLargeContentsAreUnpackedIntoTheSameMemory(t *testing.T) {
	for _, codec := range []Codec{Gzip, Snappy, LZ4, Zstd} {
		for room, contents := range map[int]int{largeBytes: 6 << 20, hugeBytes: 40 << 20} {
			r := local(0, appended(t, build(codec, []Record{{Value: make([]byte, contents)}}), 0, Stamp{}))
			var b Batch
			if err := r.fill(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			value := b.Records[0].Value // not let go of, so that the memory is not collected
			b.Release()
			r.drop()
			again := r.client.buffers().get(room)
			memory := again.b[:64] // what lies before the value is shorter
			if !slices.ContainsFunc(slices.Collect(addresses(memory)), func(at *byte) bool { return at == &value[0] }) {
				t.Errorf("%s: the %d bytes did not come back", codec, room)
			}
			runtime.KeepAlive(value)
		}
	}
}

// addresses are those of all bytes.
func addresses(memory []byte) iter.Seq[*byte] {
	return func(yield func(*byte) bool) {
		for i := range memory {
			if !yield(&memory[i]) {
				return
			}
		}
	}
}
