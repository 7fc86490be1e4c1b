package fetch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

// errLost is the error of unpackSlowly for an unreadable batch.
var errLost = errors.New("lost")

// unpackSlowly is the slow reference model of unpack: it decompresses in one pass, behind made. A batch is
// lost exactly if it cannot be unpacked within limit.
func unpackSlowly(made []byte, codec records.Codec, src []byte, limit int) ([]byte, error) {
	switch codec {
	case records.Gzip, records.LZ4:
		all := bytes.NewBuffer(made)
		_, err := all.ReadFrom(io.LimitReader(compress.Compression(codec).Codec().NewReader(bytes.NewReader(src)),
			int64(limit)+1))
		if all.Len() > limit {
			err = errLost
		}
		return all.Bytes(), err
	case records.Snappy:
		blocks := [][]byte{src}
		xerial := []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0} // header of the Java client's framing
		if bytes.HasPrefix(src, xerial) {
			if len(src) < 16 {
				return nil, errLost
			}
			blocks = nil
			for src = src[16:]; len(src) > 0; {
				if len(src) < 4 || int64(binary.BigEndian.Uint32(src)) > int64(len(src)-4) {
					return nil, errLost
				}
				n := int(binary.BigEndian.Uint32(src)) + 4
				blocks, src = append(blocks, src[4:n]), src[n:]
			}
		}
		for _, block := range blocks {
			if n, err := snappy.DecodedLen(block); err != nil || n > limit-len(made) {
				return nil, errLost
			}
			part, err := snappy.Decode(made[len(made):cap(made)], block)
			if err != nil {
				return nil, err
			}
			made = append(made, part...)
		}
		return made, nil
	case records.Zstd:
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		return d.DecodeAll(src, made)
	default:
		return nil, errLost
	}
}

// sameVerdict decompresses src in steps, as a Reader of c does, and compares the result with unpackSlowly.
func sameVerdict(tb testing.TB, c *kafka.Client, codec records.Codec, src []byte, scratch *[]byte) {
	tb.Helper()
	want, lost := unpackSlowly((*scratch)[:0], codec, src, records.MaxBatchBytes)
	if cap(want) > cap(*scratch) {
		*scratch = want
	}
	r := NewReader(c, "t", 0, 0, Options{})
	r.packed, r.cursor = src, records.Cursor{Header: records.BatchHeader{Attributes: uint16(codec), Count: 1}}
	if ok, err := r.unpack(tb.Context(), true); !ok || err != nil {
		tb.Fatalf("%s: no room: %v", codec, err)
	}
	switch {
	case r.cursor.Lost != (lost != nil):
		tb.Fatalf("%s, %d bytes: lost is %t, the slow way says %v", codec, len(src), r.cursor.Lost, lost)
	case lost == nil && !bytes.Equal(r.cursor.Body, want):
		tb.Fatalf("%s: %d bytes, the slow way has %d", codec, len(r.cursor.Body), len(want))
	}
	r.Close()
	if held, oversize := r.budget.Held(); held != 0 || oversize {
		tb.Fatalf("%s: %d bytes of the budget are not given back, place beside taken: %t", codec, held, oversize)
	}
}

// FuzzUnpackSteps compares decompression in steps with the slow reference model, because the records of a lost batch
// become null events.
func FuzzUnpackSteps(f *testing.F) {
	for codec := records.Gzip; codec <= records.Zstd; codec++ {
		for _, n := range []int{0, 1000, 100_000} {
			packed, err := codec.Compress(nil, bytes.Repeat([]byte("abc"), n))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(codec), packed)
			f.Add(uint8(codec), append(bytes.Clone(packed), packed...))
			f.Add(uint8(codec), append(bytes.Clone(packed), 0x28, 0xb5))
		}
	}
	f.Add(uint8(records.Zstd), append([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3},
		[]byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}...))
	c := unconnected(kafka.Config{Budget: memory.NewBudget(1 << 20)})
	f.Fuzz(func(t *testing.T, codec uint8, src []byte) {
		sameVerdict(t, c, records.Codec(codec%8), src, new([]byte))
	})
}

// TestUnpackingAroundTheLimit uses contents of sizes around the limit, and around every step of the buffer.
func TestUnpackingAroundTheLimit(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 21))
	c := unconnected(kafka.Config{Budget: memory.NewBudget(1 << 20)})
	noise, scratch := make([]byte, 1<<20), []byte(nil)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	sizes := []int{
		0, 1, memory.LeastBytes, memory.LeastBytes + 1, memory.KeepBytes, memory.KeepBytes + 1, unpackStep * memory.KeepBytes,
		unpackStep*memory.KeepBytes + 1,
	}
	for _, size := range append(sizes, records.MaxBatchBytes, records.MaxBatchBytes+1) {
		plain := make([]byte, size)
		copy(plain[size/2:], noise)
		for codec := records.Gzip; codec <= records.Zstd; codec++ {
			if tiertest.Runs(size == records.MaxBatchBytes && (codec == records.Gzip || codec == records.LZ4), false) {
				continue // the next size tests all codecs
			}
			packed, err := codec.Compress(nil, plain)
			if err != nil {
				t.Fatal(err)
			}
			sameVerdict(t, c, codec, packed, &scratch)
		}
		if tiertest.Runs(size == records.MaxBatchBytes, false) {
			continue // the sizes before and after it test two frames
		}
		halves := [2][]byte{}
		for i, half := range [][]byte{plain[:size/2], plain[size/2:]} {
			var err error
			if halves[i], err = records.Zstd.Compress(nil, half); err != nil {
				t.Fatal(err)
			}
		}
		sameVerdict(t, c, records.Zstd, append(halves[0], halves[1]...), &scratch)
	}
}
