package state

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestGoldenBytes checks the bytes of format 1, and that they are read.
func TestGoldenBytes(t *testing.T) {
	golden(t, "incarnation-1.hex", testIncarnation().seal(testMaster(), testNonce()))
	if i, err := OpenIncarnation(unhex(t, "incarnation-1.hex"), testMaster()); err != nil ||
		!reflect.DeepEqual(i, testIncarnation()) {
		t.Errorf("incarnation: %+v, %v", i, err)
	}
	golden(t, "state-1.hex", testSealer(t).seal(nil, testNonce(), testPosition(), fill(40, 0)))
	if p, machine, err := testSealer(t).Open(unhex(t, "state-1.hex")); err != nil || p != testPosition() ||
		string(machine) != string(fill(40, 0)) {
		t.Errorf("state: %+v, %x, %v", p, machine, err)
	}
	golden(t, "verdicts-1.hex", testSealer(t).sealStatuses(nil, testNonce(), testRow(40)))
	if row, err := testSealer(t).OpenStatuses(unhex(t, "verdicts-1.hex")); err != nil ||
		!reflect.DeepEqual(row, testRow(40)) {
		t.Errorf("verdicts: %+v, %v", row, err)
	}
	large := Parts(fill(MaxValue+1, 0))
	golden(t, "part-1.hex", large[1])
	golden(t, "identity-1.hex", testIdentity().Append(nil))
	if i, err := ParseIdentity(unhex(t, "identity-1.hex")); err != nil || i != testIdentity() {
		t.Errorf("identity: %+v, %v", i, err)
	}
}

// TestGoldenBytesOfFormat2 checks the bytes of a manifest with its input and with texts, a state with semantics other
// than 1, and a row of a whole topic.
func TestGoldenBytesOfFormat2(t *testing.T) {
	golden(t, "manifest-2.hex", testManifest().seal(testMaster(), testNonce()))
	if m, err := OpenManifest(unhex(t, "manifest-2.hex"), testMaster()); err != nil || m != testManifest() {
		t.Errorf("manifest: %+v, %v", m, err)
	}
	described := testManifest()
	described.Texts = AppendText("", "ARMS", "up\ndown")
	golden(t, "manifest-3.hex", described.seal(testMaster(), testNonce()))
	if m, err := OpenManifest(unhex(t, "manifest-3.hex"), testMaster()); err != nil || m != described {
		t.Errorf("manifest: %+v, %v", m, err)
	}
	golden(t, "verdicts-2.hex", testSealer(t).sealStatuses(nil, testNonce(), mergedRow()))
	if row, err := testSealer(t).OpenStatuses(unhex(t, "verdicts-2.hex")); err != nil ||
		!reflect.DeepEqual(row, mergedRow()) {
		t.Errorf("verdicts: %+v, %v", row, err)
	}
	golden(t, "state-2.hex", testSealer(t).seal(nil, testNonce(), laterPosition(), fill(40, 0)))
	if p, machine, err := testSealer(t).Open(unhex(t, "state-2.hex")); err != nil || p != laterPosition() ||
		string(machine) != string(fill(40, 0)) {
		t.Errorf("state: %+v, %x, %v", p, machine, err)
	}
}

// TestGoldenBytesOfAStateThatOwes checks the bytes of format 3, a state that owes its first decisions, under semantics
// 1 and other semantics.
func TestGoldenBytesOfAStateThatOwes(t *testing.T) {
	golden(t, "state-3.hex", testSealer(t).seal(nil, testNonce(), owingPosition(), fill(40, 0)))
	later := owingPosition()
	later.Semantics = 3
	for _, want := range []Position{owingPosition(), later} {
		sealed := testSealer(t).seal(nil, testNonce(), want, fill(40, 0))
		if p, machine, err := testSealer(t).Open(sealed); err != nil || p != want || string(machine) != string(fill(40, 0)) {
			t.Errorf("state: %+v, %x, %v; want %+v", p, machine, err, want)
		}
	}
}

// TestGoldenBytesOfAWholeTopic checks the bytes of a whole topic's stream position, in the incarnation and in the
// state.
func TestGoldenBytesOfAWholeTopic(t *testing.T) {
	golden(t, "incarnation-2.hex", wholeIncarnation().seal(testMaster(), testNonce()))
	if i, err := OpenIncarnation(unhex(t, "incarnation-2.hex"), testMaster()); err != nil ||
		!reflect.DeepEqual(i, wholeIncarnation()) {
		t.Errorf("incarnation: %+v, %v", i, err)
	}
	golden(t, "state-4.hex", testSealer(t).seal(nil, testNonce(), wholePosition(), fill(40, 0)))
	owing := owingPosition()
	owing.Order = &Ordered{LeaderEpoch: -1}
	for _, want := range []Position{wholePosition(), owing} {
		sealed := testSealer(t).seal(nil, testNonce(), want, fill(40, 0))
		p, machine, err := testSealer(t).Open(sealed)
		if err != nil || !p.Equal(want) || string(machine) != string(fill(40, 0)) {
			t.Errorf("state: %+v, %x, %v; want %+v", p, machine, err, want)
		}
	}
}

// TestImpossiblePositionsAreRefused checks that an impossible position is neither written nor read.
func TestImpossiblePositionsAreRefused(t *testing.T) {
	const order = sealedHeader - 4 + semanticsSize // offset of order; the byte before it is owes
	const parts = order + 1 + 16 + 8 + 4 + 4
	for name, at := range map[string]struct {
		offset int
		is     byte
	}{
		"half owing": {order, 2}, "no semantics": {order - 4, 0}, "a negative record": {order + 1 + 16 + 7, 0x80},
		"more partitions than fit": {parts - 4, 3}, "millions of partitions": {parts - 1, 1},
		"partitions that do not ascend": {parts, 2}, "a negative offset": {parts + 4 + 7, 0x80},
	} {
		b := testSealer(t).seal(nil, testNonce(), wholePosition(), fill(40, 0))
		b[at.offset] = at.is
		_, _, err := testSealer(t).Open(appendChecksum(b[:len(b)-checksumSize], 0))
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "fields") {
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
	b[sealedHeader-4-8] = 1 // changes the step
	if _, _, err := testSealer(t).Open(appendChecksum(b[:len(b)-checksumSize], 0)); !errors.Is(err, ErrCorrupt) ||
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

// TestSemanticsOneHasOneForm checks that semantics 1 in format 2 is refused, because format 1 already represents it.
func TestSemanticsOneHasOneForm(t *testing.T) {
	b := testSealer(t).seal(nil, testNonce(), laterPosition(), fill(40, 0))
	b[sealedHeader-4] = 1
	if _, _, err := testSealer(t).Open(appendChecksum(b[:len(b)-checksumSize], 0)); !errors.Is(err, ErrCorrupt) ||
		!strings.Contains(err.Error(), "fields") {
		t.Errorf("a state of format 2 and semantics 1: %v", err)
	}
}

// TestGoldenDerivations pins derived keys. They must never change, because lookups of records and replays of noise
// depend on them.
func TestGoldenDerivations(t *testing.T) {
	k := testManifest().NameKey
	golden(t, "key-incarnation-1.hex", k.Key(KindIncarnation, "3/EWR"))
	golden(t, "key-state-1.hex", k.Key(KindState, "3/EWR"))
	order := k.Order()
	golden(t, "key-order-1.hex", order[:])
	initial := testIncarnation().InitialKey([32]byte(fill(32, 5)))
	golden(t, "initial-key-1.hex", initial[:])
	id := SeededID([32]byte(fill(32, 5)))
	golden(t, "seeded-id-1.hex", id[:])
	if string(ManifestKey()) != "oriel/manifest" {
		t.Errorf("manifest key %q", ManifestKey())
	}
}
