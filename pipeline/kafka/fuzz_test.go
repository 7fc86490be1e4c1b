package kafka

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// FuzzBatches feeds the decoder bytes whose checksum is right, so that what lies behind it is reached. It never panics,
// yields records in order of offset within the batches' bounds, and yields the same ones again from any of their
// offsets.
func FuzzBatches(f *testing.F) {
	random := rand.New(rand.NewPCG(9, 9))
	for codec := NoCompression; codec <= Zstd; codec++ {
		batch := appended(f, build(codec, randomRecords(random, 4)), 5, Stamp{})
		f.Add(batch)
		f.Add(append(bytes.Clone(batch), batch[:40]...))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		wire := bytes.Clone(input)
		for rest := wire; len(rest) >= batchHeaderLen; {
			n := int(int32(binary.BigEndian.Uint32(rest[batchLengthAt:]))) + batchPrefixLen
			if n < batchHeaderLen || n > len(rest) {
				break
			}
			// At most 255 records: unreadable ones cost the sender no bytes, and the test walks them many times.
			clear(rest[countAt : countAt+3])
			clear(rest[lastDeltaAt : lastDeltaAt+3])
			resum(rest[:n])
			rest = rest[n:]
		}
		all, _ := drain(local(0, wire))
		last := int64(-1)
		for _, r := range all {
			if r.Offset <= last {
				return // several batches may overlap; a broker's never do
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
				if !sameRecord(again[i], all[from+i]) {
					t.Fatalf("record %d differs when read from offset %d", again[i].Offset, all[from].Offset)
				}
			}
		}
	})
}

// FuzzAnswers feeds the parsers of raw answers. They never panic and allocate no more than they are given.
func FuzzAnswers(f *testing.F) {
	batch := appended(f, build(NoCompression, []Record{{Value: []byte("v")}}), 0, Stamp{})
	f.Add(fetchAnswer(batch, abortedTxn{1, 2}))
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range []func(*wireReader){
			func(r *wireReader) { parseProduce(r) },
			func(r *wireReader) { parseListOffset(r) },
			func(r *wireReader) { parseEpochEnd(r) },
			func(r *wireReader) { parseOffsetFetch(r) },
			func(r *wireReader) { parseDeleteRecords(r) },
			func(r *wireReader) { parseJoin(r) },
			func(r *wireReader) { parseSync(r, "t") },
			func(r *wireReader) { parseLeave(r) },
			func(r *wireReader) { parseDescribeGroup(r, "t") },
			func(r *wireReader) {
				cluster, _ := parseMetadata(r)
				if r.err == nil && len(cluster.Topics) > len(b)/25 {
					t.Fatalf("%d topics in %d bytes", len(cluster.Topics), len(b))
				}
			},
			func(r *wireReader) { r.tags() },
		} {
			parse(&wireReader{b: b})
		}
		a, err := readFetch(bytes.NewReader(b), len(b), plenty, 4096)
		if err == nil && a.records != nil && cap(a.records.b) > 2<<20 {
			t.Fatalf("%d bytes held for %d", cap(a.records.b), len(b))
		}
	})
}
