package state

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"oriel/state/frame"
)

// TestGoldenBytes checks the bytes of records under keys, and that they are read.
func TestGoldenBytes(t *testing.T) {
	golden(t, "manifest.hex", testManifest().seal(testMaster(), testNonce()))
	if m, err := OpenManifest(unhex(t, "manifest.hex"), testMaster()); err != nil || m != testManifest() {
		t.Errorf("manifest: %+v, %v", m, err)
	}
	for name, want := range map[string]Incarnation{
		"incarnation": testIncarnation(), "incarnation-whole": wholeIncarnation(),
	} {
		golden(t, name+".hex", want.seal(testMaster(), testNonce()))
		if i, err := OpenIncarnation(unhex(t, name+".hex"), testMaster()); err != nil || !reflect.DeepEqual(i, want) {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
	}
	owing := owingPosition()
	owing.Order = &Ordered{LeaderEpoch: -1}
	for name, want := range map[string]Position{
		"state": testPosition(), "state-owing": owingPosition(), "state-whole": wholePosition(), "state-whole-owing": owing,
		"state-clock": clockPosition(),
	} {
		golden(t, name+".hex", testSealer(t).seal(nil, testNonce(), want, fill(40, 0)))
		p, machine, err := testSealer(t).Open(unhex(t, name+".hex"))
		if err != nil || !p.Equal(want) || string(machine) != string(fill(40, 0)) {
			t.Errorf("%s: %+v, %x, %v", name, p, machine, err)
		}
	}
	for name, want := range map[string]StatusRow{
		"statuses": testRow(40), "statuses-whole": mergedRow(), "statuses-empty": emptyRow(),
	} {
		golden(t, name+".hex", testSealer(t).sealStatuses(nil, testNonce(), want))
		if row, err := testSealer(t).OpenStatuses(unhex(t, name+".hex")); err != nil || !reflect.DeepEqual(row, want) {
			t.Errorf("%s: %+v, %v", name, row, err)
		}
	}
	golden(t, "part.hex", Parts(fill(MaxValue+1, 0))[1])
	golden(t, "identity.hex", testIdentity().Append(nil))
	if i, err := ParseIdentity(unhex(t, "identity.hex")); err != nil || i != testIdentity() {
		t.Errorf("identity: %+v, %v", i, err)
	}
}

// TestImpossiblePositionsAreRefused checks that an impossible position is neither written nor read.
func TestImpossiblePositionsAreRefused(t *testing.T) {
	const order = sealedHeader - 4 - 1 // offset of order; the byte before it is owes
	const parts = order + 1 + 16 + 8 + 4 + 8 + 4
	for name, at := range map[string]struct {
		offset int
		is     byte
	}{
		"half owing": {order - 1, 2}, "half an order": {order, 3}, "no semantics": {order - 5, 0},
		"a negative record":        {order + 1 + 16 + 7, 0x80},
		"more partitions than fit": {parts - 4, 3}, "millions of partitions": {parts - 1, 1},
		"partitions that do not ascend": {parts, 2}, "a negative offset": {parts + 4 + 7, 0x80},
		"a negative slot": {parts - 4 - 1, 0x80}, "an end before the offset": {parts + 4 + 8 + 5, 0},
	} {
		b := testSealer(t).seal(nil, testNonce(), wholePosition(), fill(40, 0))
		b[at.offset] = at.is
		_, _, err := testSealer(t).Open(frame.AppendChecksum(b[:len(b)-frame.ChecksumSize], 0))
		if !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), "fields") {
			t.Errorf("%s: %v", name, err)
		}
	}
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "BUG: state: a whole topic cannot stand at") {
			t.Errorf("sealed: %q", text)
		}
	}()
	p := wholePosition()
	p.Order.Parts[1].Partition = 0
	testSealer(t).Seal(nil, p, fill(40, 0))
}

// TestOnlyStepZeroOwes checks that a state after step 0 cannot owe its first decisions: the sealer neither writes such
// a state, nor reads a forged one.
func TestOnlyStepZeroOwes(t *testing.T) {
	b := testSealer(t).seal(nil, testNonce(), owingPosition(), fill(40, 0))
	b[sealedHeader-4-1-1-4-8] = 1 // changes the step
	b = frame.AppendChecksum(b[:len(b)-frame.ChecksumSize], 0)
	if _, _, err := testSealer(t).Open(b); !errors.Is(err, frame.ErrCorrupt) ||
		!strings.Contains(err.Error(), "fields") {
		t.Errorf("a state of step 1 that owes its first decisions: %v", err)
	}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "BUG: state: a state of step 1 owes") {
			t.Errorf("sealed: %q", text)
		}
	}()
	p := owingPosition()
	p.Step = 1
	testSealer(t).Seal(nil, p, fill(40, 0))
}

// TestGoldenDerivations pins derived keys. They must never change, because lookups of records and replays of noise
// depend on them.
func TestGoldenDerivations(t *testing.T) {
	k := testManifest().NameKey
	golden(t, "key-incarnation.hex", k.Key(frame.KindIncarnation, "3/EWR"))
	golden(t, "key-state.hex", k.Key(frame.KindState, "3/EWR"))
	order := k.Order()
	golden(t, "key-order.hex", order[:])
	initial := testIncarnation().InitialKey([32]byte(fill(32, 5)))
	golden(t, "initial-key.hex", initial[:])
	id := SeededID([32]byte(fill(32, 5)))
	golden(t, "seeded-id.hex", id[:])
	if string(ManifestKey()) != "oriel/manifest" {
		t.Errorf("manifest key %q", ManifestKey())
	}
}
