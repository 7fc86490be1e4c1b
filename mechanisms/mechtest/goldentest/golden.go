package goldentest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"hash"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write golden files of testdata")

// Check fails t for each line that differs from the stored one, and if lines are missing or added.
func Check(t testing.TB, lines []string) {
	t.Helper()
	CheckFile(t, "golden.txt", lines)
}

// CheckFile is Check with the named file of testdata, in the folder of the test's own package.
func CheckFile(t testing.TB, name string, lines []string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(stored), "\n"), "\n")
	if len(lines) != len(want) {
		t.Errorf("%d lines, stored are %d", len(lines), len(want))
	}
	for i := range min(len(lines), len(want)) {
		if lines[i] != want[i] {
			t.Errorf("got %q, stored %q", lines[i], want[i])
		}
	}
}

// Digest is the form in which golden tests store decisions: half of the SHA-256 of their numbers and texts, bit for
// bit.
type Digest struct {
	hash hash.Hash
	word [8]byte
}

// NewDigest returns an empty digest.
func NewDigest() *Digest { return &Digest{hash: sha256.New()} }

// Numbers adds the bits of numbers, little-endian.
func (d *Digest) Numbers(all ...float64) {
	for _, x := range all {
		binary.LittleEndian.PutUint64(d.word[:], math.Float64bits(x))
		d.hash.Write(d.word[:])
	}
}

// Text adds a text.
func (d *Digest) Text(s string) { d.hash.Write([]byte(s)) }

// String returns the digest in hexadecimal.
func (d *Digest) String() string { return hex.EncodeToString(d.hash.Sum(nil)[:sha256.Size/2]) }
