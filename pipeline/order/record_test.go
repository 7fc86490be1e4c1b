package order

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"testing"
)

var (
	testLog     = Log{Key: [32]byte{1}, Topic: [16]byte{2}, Input: [16]byte{3}}
	testEntries = []Entry{{0, 1, 0}, {3, 300, 7}, {4, math.MaxInt64, math.MaxInt32}}
	testRecord  = Record{Slot: 1_800_000_000, Entries: testEntries}
)

// TestRecordKeepsItsBytes compares a record with golden bytes, because later versions must be able to read an order
// log.
func TestRecordKeepsItsBytes(t *testing.T) {
	const want = "01" + "03000000000000000000000000000000" + "80a4a7da06" +
		"000100" + "02ac0207" + "00ffffffffffffffff7fffffffff07" +
		"3d360e7aecbfacc6155bbb880cff3119"
	if got := hex.EncodeToString(testLog.Append(nil, testRecord)); got != want {
		t.Errorf("the record is\n%s, want\n%s", got, want)
	}
}

func TestParseGivesWhatAppendTook(t *testing.T) {
	for i, entries := range [][]Entry{nil, testEntries[:1], testEntries, {{math.MaxInt32, 9, 9}}} {
		prefix, slot := []byte("before"), []int64{0, 1, maxSlot, 300}[i]
		value := testLog.Append(prefix, Record{slot, entries})
		if !bytes.HasPrefix(value, prefix) {
			t.Errorf("%v: Append changed what was before", entries)
		}
		got, err := testLog.Parse(value[len(prefix):])
		if err != nil || got.Slot != slot || !slices.Equal(got.Entries, entries) {
			t.Errorf("slot %d, %v: %v, %v", slot, entries, got, err)
		}
	}
}

func TestForgedRecordsAreRefused(t *testing.T) {
	value := testLog.Append(nil, testRecord)
	for bit := range 8 * len(value) {
		forged := bytes.Clone(value)
		forged[bit/8] ^= 1 << (bit % 8)
		if r, err := testLog.Parse(forged); !errors.Is(err, ErrForged) || r.Entries != nil {
			t.Fatalf("bit %d changed: %v, %v", bit, r, err)
		}
	}
	for n := range value {
		if _, err := testLog.Parse(value[:n]); !errors.Is(err, ErrForged) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	for name, change := range map[string]func(*Log){
		"key":   func(l *Log) { l.Key[31]++ },
		"topic": func(l *Log) { l.Topic[15]++ },
	} {
		l := testLog
		change(&l)
		if _, err := l.Parse(value); !errors.Is(err, ErrForged) {
			t.Errorf("another %s: %v, want ErrForged", name, err)
		}
	}
	l := testLog
	l.Input[0]++
	if _, err := l.Parse(value); !errors.Is(err, ErrInput) {
		t.Errorf("another input: %v, want ErrInput", err)
	}
}

// signed returns a signed order record with this body.
func signed(body []byte) []byte {
	h := hmac.New(sha256.New, testLog.Key[:])
	h.Write(append(testLog.Topic[:], body...))
	return append(bytes.Clone(body), h.Sum(nil)[:16]...)
}

// TestUnknownFormatsStopAReader checks that a reader stops at a signed record of an unknown format. A reader that
// skipped it could order the input differently from the version that wrote it.
func TestUnknownFormatsStopAReader(t *testing.T) {
	first := append([]byte{1}, testLog.Input[:]...)
	head := append(bytes.Clone(first), 9) // the slot
	body := func(fields ...uint64) []byte {
		b := bytes.Clone(head)
		for _, f := range fields {
			b = binary.AppendUvarint(b, f)
		}
		return b
	}
	for name, b := range map[string][]byte{
		"a later format":           append([]byte{2}, body(0, 1, 0)[1:]...),
		"no slot":                  first,
		"half a slot":              append(bytes.Clone(first), 0x80),
		"a slot beyond all times":  binary.AppendUvarint(bytes.Clone(first), uint64(maxSlot)+1),
		"half an entry":            body(0, 1),
		"half a number":            append(body(0, 1), 0x80),
		"an end of 0":              body(0, 0, 0),
		"an end beyond 63 bits":    body(0, 1<<63, 0),
		"a partition beyond 31":    body(1<<31, 1, 0),
		"partitions beyond 31":     body(math.MaxInt32, 1, 0, 0, 1, 0),
		"an epoch beyond 31 bits":  body(0, 1, 1<<31),
		"more entries than may be": body(slices.Repeat([]uint64{0, 1, 0}, MaxEntries+1)...),
	} {
		if r, err := testLog.Parse(signed(b)); !errors.Is(err, ErrFormat) || r.Entries != nil {
			t.Errorf("%s: %v, %v, want ErrFormat", name, r, err)
		}
	}
	if r, err := testLog.Parse(signed(body(4, 1, 0))); err != nil || len(r.Entries) != 1 || r.Slot != 9 {
		t.Errorf("a body that is well: %v, %v", r, err)
	}
}

// FuzzParse fuzzes Parse with signed bodies and with arbitrary bytes. Entries that Parse returns must survive Append
// and Parse.
func FuzzParse(f *testing.F) {
	value := testLog.Append(nil, testRecord)
	f.Add(value[headLen:len(value)-macLen], true)
	f.Add(value, false)
	f.Add([]byte{}, true)
	f.Add([]byte{9, 0x80, 0x00, 1, 0}, true)
	f.Fuzz(func(t *testing.T, b []byte, whole bool) {
		if !whole {
			if r, err := testLog.Parse(b); err == nil && !bytes.Equal(testLog.Append(nil, r), b) {
				t.Fatalf("%x is taken", b)
			}
			return
		}
		r, err := testLog.Parse(signed(append(append([]byte{1}, testLog.Input[:]...), b...)))
		if err != nil {
			if !errors.Is(err, ErrFormat) || r.Entries != nil {
				t.Fatalf("%v, %v", r, err)
			}
			return
		}
		if len(r.Entries) > len(b)/3 {
			t.Fatalf("%d entries in %d bytes", len(r.Entries), len(b))
		}
		again, err := testLog.Parse(testLog.Append(nil, r))
		if err != nil || again.Slot != r.Slot || !slices.Equal(again.Entries, r.Entries) {
			t.Fatalf("%v, appended and parsed: %v, %v", r, again, err)
		}
	})
}
