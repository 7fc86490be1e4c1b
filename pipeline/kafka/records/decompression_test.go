package records

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// unpackLimit is the size limit with which the golden batches were decompressed.
const unpackLimit = 1 << 16

// unpacked returns the length and digest of a decompressed batch, or the reason why its records are unreadable.
func unpacked(codec Codec, packed []byte) string {
	plain, err := new(Unpacker).Unpack(codec, nil, packed, unpackLimit)
	switch {
	case errors.Is(err, ErrTooLarge):
		return "too-large"
	case err != nil:
		return "corrupt"
	}
	digest := sha256.Sum256(plain)
	return fmt.Sprintf("%d:%x", len(plain), digest[:8])
}

// TestGoldenDecompression checks which compressed batches can be read, because the records of other batches become null
// events, which changes the noise of every later step. The batches are stored as bytes, because compressors may change:
// valid batches, damaged ones, and some at the limit. A different result is a change of semantics (streams.Semantics).
func TestGoldenDecompression(t *testing.T) {
	golden, err := os.ReadFile("testdata/decompression.txt")
	if err != nil {
		t.Fatal(err)
	}
	codecs := map[string]Codec{}
	for _, c := range []Codec{Gzip, Snappy, LZ4, Zstd} {
		codecs[c.String()] = c
	}
	n := map[string]int{}
	for line := range strings.Lines(string(golden)) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case len(field) == 2: // a limit of the package, which must equal the golden one
			if got := map[string]int{
				"batch-bytes": MaxBatchBytes,
				"headers":     MaxHeaders,
			}[field[0]]; fmt.Sprint(got) != field[1] {
				t.Errorf("limit of %s: %d, was %s", field[0], got, field[1])
			}
		case len(field) == 4:
			packed, err := hex.DecodeString(field[2])
			if err != nil {
				t.Fatal(err)
			}
			if got := unpacked(codecs[field[0]], packed); got != field[3] {
				t.Errorf("%s, %s: %s, was %s", field[0], field[1], got, field[3])
			}
			n[field[0]]++
		default:
			t.Fatalf("line of %d fields", len(field))
		}
	}
	for name := range codecs {
		if n[name] < 9 {
			t.Errorf("%s: %d batches, want 9 and more", name, n[name])
		}
	}
}

func TestUnpackingMakesNoMoreThanThereIsRoomFor(t *testing.T) {
	const limit = 1 << 16
	var u Unpacker
	for codec := Gzip; codec <= Zstd; codec++ {
		for _, size := range []int{limit, limit + 1, 50 * limit} {
			packed, err := codec.Compress(nil, make([]byte, size))
			if err != nil {
				t.Fatal(err)
			}
			out, err := u.Unpack(codec, make([]byte, 0, limit), packed, MaxBatchBytes)
			if size == limit && (err != nil || len(out) != limit) || size > limit && !errors.Is(err, ErrTooLarge) ||
				len(out) > limit {
				t.Errorf("%s: %d bytes of %d, %v", codec, len(out), size, err)
			}
		}
	}
}
