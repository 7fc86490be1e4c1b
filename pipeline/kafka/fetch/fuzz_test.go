package fetch

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
)

// FuzzBatches fuzzes the decoder with bytes that have a correct checksum, so that they reach the parser. It must never
// panic, must return records in order of offset within the bounds of the batches, and must return the same records when
// started at any of their offsets.
func FuzzBatches(f *testing.F) {
	random := rand.New(rand.NewPCG(9, 9))
	for codec := records.NoCompression; codec <= records.Zstd; codec++ {
		batch := recordstest.Appended(f, recordstest.Build(codec, recordstest.Random(random, 4)), 5, records.Stamp{})
		f.Add(batch)
		f.Add(append(bytes.Clone(batch), batch[:40]...))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		wire := bytes.Clone(input)
		for rest := wire; len(rest) >= records.HeaderLen; {
			n := int(int32(binary.BigEndian.Uint32(rest[records.LengthAt:]))) + records.PrefixLen
			if n < records.HeaderLen || n > len(rest) {
				break
			}
			// At most 255 records: an unreadable record costs the sender no bytes, and the test reads each many times.
			clear(rest[records.CountAt : records.CountAt+3])
			clear(rest[records.LastDeltaAt : records.LastDeltaAt+3])
			recordstest.Resum(rest[:n])
			rest = rest[n:]
		}
		all, _ := drain(local(0, wire))
		last := int64(-1)
		for _, r := range all {
			if r.Offset <= last {
				return // batches overlap, which never happens on a broker
			}
			last = r.Offset
		}
		for from := range all {
			if from%16 != 0 {
				continue
			}
			again, _ := drain(local(all[from].Offset, wire))
			if len(again) != len(all)-from {
				t.Fatalf("%d records from offset %d, want %d", len(again), all[from].Offset, len(all)-from)
			}
			for i := range again {
				if !recordstest.Same(again[i], all[from+i]) {
					t.Fatalf("record %d differs when read from offset %d", again[i].Offset, all[from].Offset)
				}
			}
		}
	})
}
