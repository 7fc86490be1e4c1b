package local

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
	"oriel/state"
	"oriel/state/frame"
)

func testIdentity() state.Identity {
	return state.Identity{Cluster: "lkc-1", Name: "flights", Topic: [16]byte{30, 31, 32, 33}}
}

func openMem(t *testing.T, disk vfs.FS) *Store {
	t.Helper()
	s, err := Options{FS: disk}.Open("data", testIdentity())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func show(records []state.Record) string {
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "%s=%s ", r.Key, r.Value)
	}
	return b.String()
}

func wantRecords(t *testing.T, s *Store, partition int32, want string) {
	t.Helper()
	records, err := s.Load(partition)
	if got := show(records); err != nil || got != want {
		t.Errorf("partition %d: %.100q, %v; want %.100q", partition, got, err, want)
	}
}

func rec(pairs ...string) (records []state.Record) {
	for i := 0; i < len(pairs); i += 2 {
		records = append(records, state.Record{Key: []byte(pairs[i]), Value: []byte(pairs[i+1])})
	}
	return records
}

func TestStoreFollowsReplacesAndReopens(t *testing.T) {
	disk := vfs.NewMem()
	s := openMem(t, disk)
	wantRecords(t, s, 0, "")
	for _, err := range []error{
		s.Follow(0, rec("b", "1", "a", "1")), s.Follow(1, rec("a", "other")), s.Follow(1<<31-1, rec("a", "last")),
		s.Follow(0, rec("b", "2")), s.Follow(0, nil), s.Follow(0, rec("\xff\xff\xff\xff\xff", "")),
		s.Follow(0, rec("gone", "1", "back", "1")), s.Follow(1, []state.Record{{Key: []byte("b")}}),
		s.Follow(0, append(rec("back", "2"), state.Record{Key: []byte("gone")}, state.Record{Key: []byte("never")})),
		s.Follow(0, []state.Record{{Key: []byte("back")}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantRecords(t, s, 0, "a=1 b=2 \xff\xff\xff\xff\xff= ")
	closeStore(t, s)

	s = openMem(t, disk)
	wantRecords(t, s, 0, "a=1 b=2 \xff\xff\xff\xff\xff= ")
	if err := s.Replace(0, rec("c", "3", "a", "4")); err != nil {
		t.Fatal(err)
	}
	if err := s.Replace(1<<31-1, nil); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)

	s = openMem(t, disk)
	defer closeStore(t, s)
	wantRecords(t, s, 0, "a=4 c=3 ")
	wantRecords(t, s, 1, "a=other ")
	wantRecords(t, s, 1<<31-1, "")
	if s.SetAside() != nil {
		t.Errorf("set aside %+v", s.SetAside())
	}
}

// TestAFlippedValueIsFound flips a bit of a value. Pebble would return the value without an error; Load must refuse it.
func TestAFlippedValueIsFound(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	defer closeStore(t, s)
	if err := errors.Join(s.Follow(0, rec("a", "1", "b", "2")), s.Follow(1, rec("a", "1"))); err != nil {
		t.Fatal(err)
	}
	key := append(prefix(0), 'a')
	stored, closer, err := pebbleOf(s).Get(key)
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(stored)
	_ = closer.Close()
	other := binary.LittleEndian.AppendUint32([]byte("2"), valueChecksum(append(prefix(0), 'b'), []byte("2")))
	bad := [][]byte{nil, whole[:3], other}
	for i := range 8 * len(whole) {
		b := bytes.Clone(whole)
		b[i/8] ^= 1 << (i % 8)
		bad = append(bad, b)
	}
	for _, b := range bad {
		if err := pebbleOf(s).Set(key, b, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
		if records, err := s.Load(0); !errors.Is(err, frame.ErrCorrupt) || records != nil {
			t.Errorf("value %x: %v", b, err)
		}
	}
	wantRecords(t, s, 1, "a=1 ")
	if err := s.Replace(0, rec("a", "3")); err != nil {
		t.Fatal(err)
	}
	wantRecords(t, s, 0, "a=3 ")
}

func TestPartitionsAreWrittenAtTheSameTime(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	defer closeStore(t, s)
	var wait sync.WaitGroup
	for p := range int32(4) {
		wait.Go(func() {
			for n := range 200 {
				value := fmt.Sprint(n)
				if err := s.Follow(p, rec("a", value, "b", value)); err != nil {
					t.Error(err)
				}
			}
			wantRecords(t, s, p, "a=199 b=199 ")
		})
	}
	wait.Wait()
}

func TestIdentityOfAStore(t *testing.T) {
	disk := vfs.NewMem()
	closeStore(t, openMem(t, disk))
	for name, c := range map[string]struct {
		change func(*state.Identity)
		text   string
	}{
		"cluster": {func(i *state.Identity) { i.Cluster = "lkc-2" }, `cluster "lkc-1", not "lkc-2"`},
		"name":    {func(i *state.Identity) { i.Name = "trips" }, `name "flights", not "trips"`},
		"topic":   {func(i *state.Identity) { i.Topic[0] = 0 }, "input topic 1e1f2021"},
	} {
		id := testIdentity()
		c.change(&id)
		s, err := Options{FS: disk}.Open("data", id)
		if s != nil || !errors.Is(err, frame.ErrForeign) || !strings.Contains(err.Error(), c.text) ||
			!strings.Contains(err.Error(), "directory data") {
			t.Errorf("other %s: %v", name, err)
		}
	}
	s := openMem(t, disk) // the refused calls must have changed nothing
	if s.SetAside() != nil {
		t.Error("set aside")
	}
	if _, err := (Options{FS: disk}).Open("data", testIdentity()); !errors.Is(err, state.ErrLocked) {
		t.Errorf("second store: %v", err)
	}
	closeStore(t, s)
}

func pebbleOf(s *Store) *pebble.DB { return s.db.(engine).db }
