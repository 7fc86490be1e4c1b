package state

import (
	"bytes"
	"reflect"
	"runtime"
	"testing"

	"oriel/state/frame"
	"oriel/state/keys"
)

// closed returns b unchanged, and b with a correct checksum, because otherwise a fuzz test would never pass the
// checksum.
func closed(b []byte) [][]byte {
	whole := bytes.Clone(b)
	if len(whole) > frame.ChecksumSize {
		whole = whole[:len(whole)-frame.ChecksumSize]
	}
	return [][]byte{b, frame.AppendChecksum(whole, 0)}
}

// refuse checks that no value is returned together with an error.
func refuse(t *testing.T, err error, value any) {
	t.Helper()
	if !reflect.ValueOf(value).IsZero() {
		t.Fatalf("error %v with a value", err)
	}
}

// FuzzOpenManifest checks that opening does not panic, and that an opened manifest, sealed again, opens to the same
// value.
func FuzzOpenManifest(f *testing.F) {
	f.Add(testManifest().seal(testMaster(), testNonce()))
	f.Add(frame.AppendHeader(nil, frame.KindManifest))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range closed(b) {
			m, err := OpenManifest(b, testMaster())
			if err != nil {
				refuse(t, err, m)
				continue
			}
			if again, err := OpenManifest(m.Seal(testMaster()), testMaster()); err != nil || again != m {
				t.Fatalf("roundtrip: %v", err)
			}
		}
	})
}

// FuzzOpenIncarnation is FuzzOpenManifest for incarnations.
func FuzzOpenIncarnation(f *testing.F) {
	f.Add(testIncarnation().seal(testMaster(), testNonce()))
	f.Add(Incarnation{}.seal(testMaster(), testNonce()))
	f.Add(wholeIncarnation().seal(testMaster(), testNonce()))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range closed(b) {
			i, err := OpenIncarnation(b, testMaster())
			if err != nil {
				refuse(t, err, i)
				continue
			}
			if again, err := OpenIncarnation(i.Seal(testMaster()), testMaster()); err != nil || !reflect.DeepEqual(again, i) {
				t.Fatalf("roundtrip: %v", err)
			}
		}
	})
}

// FuzzSealerOpen checks that opening does not panic, and that an opened state, sealed with its nonce, gives the same
// bytes.
func FuzzSealerOpen(f *testing.F) {
	f.Add(testSealer(f).seal(nil, testNonce(), testPosition(), fill(40, 0)))
	f.Add(testSealer(f).seal(nil, testNonce(), Position{Semantics: 1}, nil))
	f.Add(testSealer(f).seal(nil, testNonce(), Position{Semantics: 2}, nil))
	f.Add(testSealer(f).seal(nil, testNonce(), Position{Owes: true, Semantics: 1}, nil))
	f.Add(testSealer(f).seal(nil, testNonce(), wholePosition(), nil))
	f.Add(testSealer(f).seal(nil, testNonce(), clockPosition(), nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range closed(b) {
			s := testSealer(t)
			p, machine, err := s.Open(b)
			if err != nil {
				refuse(t, err, p)
				continue
			}
			header := sealedHeader - 1 + len(appendOrdered(nil, p.Order))
			if again := s.seal(nil, keys.Nonce(b[header:]), p, machine); !bytes.Equal(again, b) {
				t.Fatal("roundtrip gives other bytes")
			}
		}
	})
}

// FuzzOpenStatuses is FuzzSealerOpen for rows of statuses.
func FuzzOpenStatuses(f *testing.F) {
	f.Add(testSealer(f).sealStatuses(nil, testNonce(), testRow(40)))
	f.Add(testSealer(f).sealStatuses(nil, testNonce(), mergedRow()))
	f.Add(testSealer(f).sealStatuses(nil, testNonce(), emptyRow()))
	least := StatusRow{To: Place{Next: 1}, Statuses: []byte{0}, Stretches: []Stretch{{0, 0, 1}}}
	f.Add(testSealer(f).sealStatuses(nil, testNonce(), least))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range closed(b) {
			s := testSealer(t)
			row, err := s.OpenStatuses(b)
			if err != nil {
				refuse(t, err, row)
				continue
			}
			n := keys.Nonce(b[len(b)-(rowOverhead-rowHeader)-len(row.Statuses):])
			if again := s.sealStatuses(nil, n, row); !bytes.Equal(again, b) {
				t.Fatal("roundtrip gives other bytes")
			}
		}
	})
}

// FuzzJoin checks that Join does not panic, and that a joined value splits into the same parts. cuts gives the lengths
// of the parts of the input, in steps of 256 bytes.
func FuzzJoin(f *testing.F) {
	for _, p := range Parts(fill(MaxValue+1, 0)) {
		f.Add(p[:min(len(p), 1000)], []byte{})
	}
	f.Add(fill(2000, 0), []byte{1, 2, 4})
	f.Fuzz(func(t *testing.T, b, cuts []byte) {
		var parts [][]byte
		for _, c := range cuts {
			n := min(int(c)<<8, len(b))
			parts, b = append(parts, closed(b[:n])[1]), b[n:]
		}
		parts = append(parts, b)
		whole, err := Join(parts)
		if err != nil {
			refuse(t, err, whole)
			return
		}
		if again := Parts(whole); !reflect.DeepEqual(again, parts) {
			t.Fatal("roundtrip gives other parts")
		}
	})
}

// TestOpenAllocatesNoMoreThanItIsGiven checks that a large length field does not allocate more memory than the input
// has.
func TestOpenAllocatesNoMoreThanItIsGiven(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff}
	manifest := append(frame.AppendHeader(nil, frame.KindManifest), append(make([]byte, 32), huge...)...)
	incarnation := append(frame.AppendHeader(nil, frame.KindIncarnation), append(make([]byte, 48), huge...)...)
	state := append(frame.AppendHeader(nil, frame.KindState), append(make([]byte, sealedHeader-6), huge...)...)
	row := append(frame.AppendHeader(nil, frame.KindStatuses), append(make([]byte, rowHeader-6), huge...)...)
	part := append(append(frame.AppendHeader(nil, frame.KindPart), 0, 255, 0xff, 0xff, 0xff, 0xff), make([]byte, 32)...)
	for name, open := range map[string]func() error{
		"manifest": func() error { _, err := OpenManifest(frame.AppendChecksum(manifest, 0), testMaster()); return err },
		"incarnation": func() error {
			_, err := OpenIncarnation(frame.AppendChecksum(incarnation, 0), testMaster())
			return err
		},
		"state": func() error { _, _, err := testSealer(t).Open(frame.AppendChecksum(state, 0)); return err },
		"row":   func() error { _, err := testSealer(t).OpenStatuses(frame.AppendChecksum(row, 0)); return err },
		"part":  func() error { _, err := Join([][]byte{frame.AppendChecksum(part, 0)}); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if open() == nil {
			t.Errorf("%s: opens", name)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: allocates %d bytes", name, n)
		}
	}
}
