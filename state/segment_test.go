package state

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"oriel/state/frame"
	"oriel/state/keys"
)

func testSegment(kind frame.Kind, length int) Segment {
	return Segment{Kind: kind, Span: 20_420, Number: 7, Payload: fill(length, 3)}
}

// segmentKinds are the kinds of segments, with the names of their golden files.
var segmentKinds = map[frame.Kind]string{frame.KindUsers: "users.hex", frame.KindNames: "names.hex"}

// TestSegmentsOpen checks that a segment opens to what was sealed, has at most 512 KiB, and shows nothing of its
// payload.
func TestSegmentsOpen(t *testing.T) {
	for kind, file := range segmentKinds {
		for _, length := range []int{1, 640, MaxSegment} {
			want := testSegment(kind, length)
			out := testSealer(t).SealSegment([]byte("before"), want)[len("before"):]
			if len(out) != length+segmentOverhead || len(out) > 512<<10 {
				t.Fatalf("%v of %d bytes: %d bytes", kind, length, len(out))
			}
			if x, err := testSealer(t).OpenSegment(kind, out); err != nil || !reflect.DeepEqual(x, want) {
				t.Errorf("%v of %d bytes: span %d, number %d, %v", kind, length, x.Span, x.Number, err)
			}
			if length > 8 && bytes.Contains(out, want.Payload[:8]) {
				t.Errorf("%v of %d bytes: in clear", kind, length)
			}
		}
		golden(t, file, testSealer(t).sealSegment(nil, testNonce(), testSegment(kind, 48)))
		x, err := testSealer(t).OpenSegment(kind, unhex(t, file))
		if err != nil || !reflect.DeepEqual(x, testSegment(kind, 48)) {
			t.Errorf("%+v, %v", x, err)
		}
	}
}

func TestSegmentsRefuseEveryFlippedBit(t *testing.T) {
	for kind := range segmentKinds {
		refuseEveryFlippedBit(t, testSealer(t).SealSegment(nil, testSegment(kind, 32)), func(b []byte) (bool, error) {
			x, err := testSealer(t).OpenSegment(kind, b)
			return x.Payload != nil, err
		})
	}
}

func TestSegmentsRefuseOthers(t *testing.T) {
	for kind := range segmentKinds {
		value := testSealer(t).SealSegment(nil, testSegment(kind, 32))
		for _, c := range foreigners(kind.String()) {
			i := testIncarnation()
			c.change(&i)
			s, err := i.Sealer()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.OpenSegment(kind, value); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("other %s: %v", c.name, err)
			}
		}
		for other := range segmentKinds {
			if _, err := testSealer(t).OpenSegment(other, value); (err == nil) != (other == kind) {
				t.Errorf("a %v as a %v: %v", kind, other, err)
			}
		}
		row := testSealer(t).SealStatuses(nil, testRow(32))
		if _, err := testSealer(t).OpenSegment(kind, row); !errors.Is(err, frame.ErrFormat) {
			t.Errorf("a row of statuses as a %v: %v", kind, err)
		}
	}
}

// TestSegmentsHaveBoundedPayloads checks that a segment that is empty, too long or of another kind is neither sealed
// nor, if it is validly sealed, opened.
func TestSegmentsHaveBoundedPayloads(t *testing.T) {
	for _, x := range []Segment{
		testSegment(frame.KindUsers, 0),
		testSegment(frame.KindNames, MaxSegment+1),
		testSegment(frame.KindState, 16),
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: state: ") {
					t.Errorf("%v of %d bytes: panic %q", x.Kind, len(x.Payload), r)
				}
			}()
			testSealer(t).SealSegment(nil, x)
			t.Errorf("%v of %d bytes: sealed", x.Kind, len(x.Payload))
		}()
		s := testSealer(t)
		forged := s.close(append(s.appendOwner(nil, x.Kind), make([]byte, 12)...), 0, testNonce(), x.Payload)
		if got, err := s.OpenSegment(x.Kind, forged); !errors.Is(err, frame.ErrCorrupt) || got.Payload != nil {
			t.Errorf("%v of %d bytes: %v", x.Kind, len(x.Payload), err)
		}
	}
}

// TestKeysOfSegments checks that keys are those of one incarnation, kind and span, that they sort by span and number,
// and that no other key of the changelog is taken for one.
func TestKeysOfSegments(t *testing.T) {
	s := testSealer(t)
	key := s.SegmentKey(frame.KindUsers, 20_420, 7)
	const want = "09" + "0a0b0c0d0e0f10111213141516171819" + "0000000000004fc4" + "00000007"
	if got := hex.EncodeToString(key); got != want {
		t.Errorf("key %s, want %s", got, want)
	}
	other := testIncarnation()
	other.ID[15]++
	o, err := other.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key  []byte
		part bool
		of   bool
	}{
		{key, true, true},
		{s.SegmentKey(frame.KindUsers, 20_420, 1<<31), true, true},
		{s.SegmentKey(frame.KindUsers, 20_421, 7), true, false},
		{s.SegmentKey(frame.KindNames, 20_420, 7), true, false},
		{o.SegmentKey(frame.KindUsers, 20_420, 7), true, false},
		{key[:28], false, false},
		{testManifest().NameKey.Key(frame.KindUsers, "s"), false, false},
		{PartKey(testManifest().NameKey.Key(frame.KindState, "s"), 3), false, false},
		{ManifestKey(), false, false},
		{EndedKey(), false, false},
	} {
		part := IsSegmentKey(string(c.key))
		if of := part && s.IsSegmentOf(string(c.key), frame.KindUsers, 20_420); part != c.part || of != c.of {
			t.Errorf("%x: a segment %t, of the period %t", c.key, part, of)
		}
	}
}

// FuzzOpenSegment is FuzzSealerOpen for segments.
func FuzzOpenSegment(f *testing.F) {
	f.Add(testSealer(f).sealSegment(nil, testNonce(), testSegment(frame.KindUsers, 16)))
	f.Add(testSealer(f).sealSegment(nil, testNonce(), testSegment(frame.KindNames, 48)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range closed(b) {
			for kind := range segmentKinds {
				s := testSealer(t)
				x, err := s.OpenSegment(kind, b)
				if err != nil {
					refuse(t, err, x)
					continue
				}
				if again := s.sealSegment(nil, keys.Nonce(b[segmentHeader:]), x); !bytes.Equal(again, b) {
					t.Fatal("roundtrip gives other bytes")
				}
			}
		}
	})
}
