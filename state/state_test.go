package state

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oriel/state/keys"
)

var rewrite = flag.Bool("rewrite", false, "write golden files that do not exist; existing ones are never changed")

// fill returns n bytes that count up from first.
func fill(n int, first byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

func testMaster() *keys.MasterKey { return keys.NewMasterKey([32]byte(fill(32, 1))) }

func testNonce() keys.Nonce { return keys.Nonce(fill(24, 200)) }

func testManifest() Manifest {
	return Manifest{
		Config: "DELTA=1e-06\nEPSILON=1\n", Semantics: 3, NameKey: keys.NameKey(fill(32, 50)),
		Input: Input{ID: [16]byte(fill(16, 30)), Name: "trips"}, Texts: AppendText("", "ARMS", "up\ndown"),
	}
}

func testIncarnation() Incarnation {
	return Incarnation{
		ID: [16]byte(fill(16, 10)), Stream: "3/EWR", Cluster: "lkc-1", Topic: [16]byte(fill(16, 30)), Partition: 3,
		Config: "DELTA=1e-06\nEPSILON=1\n", Params: fill(20, 60), Start: 1 << 40, SealKey: keys.Secret(fill(32, 90)),
		KeyVersion: 7,
	}
}

func testPosition() Position {
	return Position{Topic: [16]byte(fill(16, 30)), Next: 1<<40 + 5, LeaderEpoch: 2, Step: 4, Semantics: 3}
}

// testRow returns a row for the stream of one partition.
func testRow(width int) StatusRow {
	return StatusRow{From: Place{Next: 77}, To: Place{Next: 77 + int64(width)}, Statuses: fill(width, 0)}
}

// mergedRow returns a row for the stream of a whole topic.
func mergedRow() StatusRow {
	row := testRow(40)
	row.Stretches = []Stretch{{0, 5, 20}, {2, 1 << 40, 1<<40 + 1}, {0, 20, 43}, {1 << 20, 0, 1}}
	return row
}

// emptyRow returns a row for steps by the clock that closed without records.
func emptyRow() StatusRow {
	return StatusRow{From: Place{1<<31 + 5, 77}, To: Place{1<<31 + 60, 77}, Statuses: []byte{}}
}

// owingPosition returns the position of a machine that has not made its first decisions.
func owingPosition() Position {
	p := testPosition()
	p.Step, p.LeaderEpoch, p.Owes = 0, -1, true
	return p
}

// testOrdered returns the position of a whole topic's stream in whose partition 1 nothing is ordered yet.
func testOrdered() *Ordered {
	return &Ordered{Log: [16]byte(fill(16, 70)), Next: 1<<33 + 9, LeaderEpoch: 4, Slot: 1<<31 + 5, Parts: []OrderedPart{
		{Partition: 0, Next: 1<<40 + 2, End: 1<<41 + 6, LeaderEpoch: 2, Ordered: 3},
		{Partition: 2, Next: 3, End: 3, LeaderEpoch: -1, Ordered: -1},
	}}
}

// wholePosition returns a position in the stream of a whole topic.
func wholePosition() Position {
	p := testPosition()
	p.LeaderEpoch, p.Order = -1, testOrdered()
	return p
}

// clockPosition returns a position in a stream with steps by the clock.
func clockPosition() Position {
	p := wholePosition()
	p.Order.Clock = true
	return p
}

// wholeIncarnation returns the incarnation of a whole topic's stream.
func wholeIncarnation() Incarnation {
	i := testIncarnation()
	i.Stream, i.Partition, i.Start, i.Order = "trips", 0, 0, testOrdered()
	return i
}

func testSealer(t testing.TB) *Sealer {
	t.Helper()
	s, err := testIncarnation().Sealer()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// golden compares got with the bytes of a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	text := []byte(hex.EncodeToString(got) + "\n")
	want, err := os.ReadFile(path)
	if os.IsNotExist(err) && *rewrite {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("%s: bytes differ from those that are stored out there\n got %s\nwant %s", name, text, want)
	}
}

func unhex(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func testIdentity() Identity {
	return Identity{Cluster: "lkc-1", Name: "flights", Topic: [16]byte(fill(16, 30))}
}
