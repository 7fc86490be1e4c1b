package state

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"oriel/state/frame"
	"oriel/state/keys"
)

// TestRecordsPrintNoSecrets checks that key material is not printed by any verb or encoder, nor in any field.
func TestRecordsPrintNoSecrets(t *testing.T) {
	i, m := testIncarnation(), testManifest()
	i.SealKey, m.NameKey = keys.NewSecret(), keys.NewNameKey() // random bits, which no other field can have by chance
	sealer, err := i.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		sealer *Sealer
		copied Sealer
	}
	values := map[string]any{
		"Incarnation": i, "*Incarnation": &i, "Manifest": m, "*Manifest": &m, "Sealer": sealer,
		"unexported fields": holder{sealer, *sealer},
	}
	for name, v := range values {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		if b, err := json.Marshal(v); err == nil {
			out.Write(b)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("text", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "v", v)
		for _, secret := range [][]byte{i.SealKey[:], m.NameKey[:]} {
			for _, shown := range []string{
				hex.EncodeToString(secret[:4]), strings.ToUpper(hex.EncodeToString(secret[:4])),
				fmt.Sprintf("%d %d %d %d", secret[0], secret[1], secret[2], secret[3]),
				fmt.Sprintf("%#x, %#x", secret[0], secret[1]), string(secret[:4]),
			} {
				if strings.Contains(out.String(), shown) {
					t.Errorf("%s shows %q in:\n%s", name, shown, out.String())
				}
			}
		}
	}
}

func TestDrawnIncarnationsDiffer(t *testing.T) {
	a, b := NewIncarnation(Incarnation{}), NewIncarnation(Incarnation{})
	if a.ID == b.ID || a.SealKey == b.SealKey || a.KeyVersion != 1 || string(a.ID[:]) == string(a.SealKey[:16]) {
		t.Error("two incarnations share a secret or an id")
	}
}

// TestRecordsUnderTheMasterKey checks manifest and incarnation: the right key opens them, another key gives
// ErrWrongKey, and every flipped bit is refused, even if an adversary corrects the checksum.
func TestRecordsUnderTheMasterKey(t *testing.T) {
	other := keys.NewMasterKey([32]byte(fill(32, 2)))
	for _, c := range []struct {
		name string
		seal func(*keys.MasterKey) []byte
		open func([]byte, *keys.MasterKey) error
	}{
		{"manifest", testManifest().Seal, func(b []byte, m *keys.MasterKey) error {
			_, err := OpenManifest(b, m)
			return err
		}},
		{"incarnation", testIncarnation().Seal, func(b []byte, m *keys.MasterKey) error {
			_, err := OpenIncarnation(b, m)
			return err
		}},
	} {
		record := c.seal(testMaster())
		if err := c.open(record, testMaster()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if bytes.Equal(record, c.seal(testMaster())) {
			t.Errorf("%s: two records have one nonce", c.name)
		}
		if err := c.open(record, other); !errors.Is(err, keys.ErrWrongKey) {
			t.Errorf("%s: other key: %v", c.name, err)
		}
		for i := range record {
			for bit := range 8 {
				b := bytes.Clone(record)
				b[i] ^= 1 << bit
				if err := c.open(b, testMaster()); !errors.Is(err, frame.ErrCorrupt) &&
					(i >= 2 || !errors.Is(err, frame.ErrFormat)) {
					t.Errorf("%s: bit %d of byte %d flipped: %v", c.name, bit, i, err)
				}
				if i < 2 || i >= len(b)-frame.ChecksumSize {
					continue
				}
				b = frame.AppendChecksum(b[:len(b)-frame.ChecksumSize], 0)
				if err := c.open(b, testMaster()); !errors.Is(err, frame.ErrCorrupt) && !errors.Is(err, keys.ErrWrongKey) {
					t.Errorf("%s: bit %d of byte %d forged: %v", c.name, bit, i, err)
				}
			}
			if err := c.open(record[:i], testMaster()); !errors.Is(err, frame.ErrCorrupt) {
				t.Errorf("%s: cut at %d: %v", c.name, i, err)
			}
		}
		if err := c.open(append(bytes.Clone(record), 0), testMaster()); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("%s: longer: %v", c.name, err)
		}
	}
	if _, err := OpenManifest(testIncarnation().Seal(testMaster()), testMaster()); !errors.Is(err, frame.ErrFormat) {
		t.Errorf("incarnation as manifest: %v", err)
	}
}

func TestRotationKeepsTheSealKey(t *testing.T) {
	old, fresh := testMaster(), keys.NewMasterKey([32]byte(fill(32, 2)))
	state := testSealer(t).Seal(nil, testPosition(), fill(40, 0))
	i, err := OpenIncarnation(testIncarnation().Seal(old), old)
	if err != nil {
		t.Fatal(err)
	}
	if i, err = OpenIncarnation(i.Seal(fresh), fresh); err != nil {
		t.Fatal(err)
	}
	s, err := i.Sealer()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Open(state); err != nil {
		t.Errorf("state from before the rotation: %v", err)
	}
}
