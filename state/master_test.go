package state

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const keyText = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"

func TestMasterKeyFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		want       string // text that the error must contain; empty: the key is accepted
	}{
		{"plain", keyText, 0o600, ""},
		{"newline", keyText + "\n", 0o400, ""},
		{"group reads", keyText, 0o440, ""},
		{"group reads, owner writes", keyText, 0o640, ""},
		{"others read", keyText, 0o604, "0604 lets others read"},
		{"others write", keyText, 0o602, "0602 lets others read"},
		{"group writes", keyText, 0o620, "0620 lets its group write"},
		{"usual", keyText, 0o644, "0644 lets others"},
		{"empty", "", 0o600, "64 hexadecimal digits"},
		{"short", keyText[:63], 0o600, "64 hexadecimal digits"},
		{"long", keyText + "0", 0o600, "64 hexadecimal digits"},
		{"two newlines", keyText + "\n\n", 0o600, "64 hexadecimal digits"},
		{"carriage return", keyText + "\r\n", 0o600, "64 hexadecimal digits"},
		{"huge", strings.Repeat(keyText, 1000), 0o600, "64 hexadecimal digits"},
		{"no digits", strings.Repeat("wxyz", 16), 0o600, "hexadecimal digits only"},
	} {
		path := filepath.Join(t.TempDir(), "master")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		key, err := LoadMasterKey(path)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if _, err := OpenManifest(testManifest().Seal(key), key); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) ||
			!strings.HasPrefix(err.Error(), "state: ") {
			t.Errorf("%s: %v", c.name, err)
		} else if strings.Contains(err.Error(), "0011") || strings.Contains(err.Error(), "wxyz") {
			t.Errorf("%s: shows the content: %v", c.name, err)
		}
	}
	if _, err := LoadMasterKey(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := LoadMasterKey(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("directory: %v", err)
	}
}

// TestRecordsUnderTheMasterKey checks manifest and incarnation: the right key opens them, another key gives
// ErrWrongKey, and every flipped bit is refused, even if an adversary corrects the checksum.
func TestRecordsUnderTheMasterKey(t *testing.T) {
	other := NewMasterKey([32]byte(fill(32, 2)))
	for _, c := range []struct {
		name string
		seal func(*MasterKey) []byte
		open func([]byte, *MasterKey) error
	}{
		{"manifest", testManifest().Seal, func(b []byte, m *MasterKey) error { _, err := OpenManifest(b, m); return err }},
		{"incarnation", testIncarnation().Seal, func(b []byte, m *MasterKey) error {
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
		if err := c.open(record, other); !errors.Is(err, ErrWrongKey) {
			t.Errorf("%s: other key: %v", c.name, err)
		}
		for i := range record {
			for bit := range 8 {
				b := bytes.Clone(record)
				b[i] ^= 1 << bit
				if err := c.open(b, testMaster()); !errors.Is(err, ErrCorrupt) && (i >= 2 || !errors.Is(err, ErrFormat)) {
					t.Errorf("%s: bit %d of byte %d flipped: %v", c.name, bit, i, err)
				}
				if i < 2 || i >= len(b)-checksumSize {
					continue
				}
				b = appendChecksum(b[:len(b)-checksumSize], 0)
				if err := c.open(b, testMaster()); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrWrongKey) {
					t.Errorf("%s: bit %d of byte %d forged: %v", c.name, bit, i, err)
				}
			}
			if err := c.open(record[:i], testMaster()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: cut at %d: %v", c.name, i, err)
			}
		}
		if err := c.open(append(bytes.Clone(record), 0), testMaster()); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: longer: %v", c.name, err)
		}
	}
	if _, err := OpenManifest(testIncarnation().Seal(testMaster()), testMaster()); !errors.Is(err, ErrFormat) {
		t.Errorf("incarnation as manifest: %v", err)
	}
}

func TestRotationKeepsTheSealKey(t *testing.T) {
	old, fresh := testMaster(), NewMasterKey([32]byte(fill(32, 2)))
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
