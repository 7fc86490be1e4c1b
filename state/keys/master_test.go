package keys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oriel/state/frame"
)

const keyText = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"

// unwrapped unwraps the secret of a record that has no other fields.
func unwrapped(key *MasterKey, record []byte) (Secret, error) {
	r, err := frame.Open(frame.AppendChecksum(record, 0), frame.KindManifest)
	if err != nil {
		return Secret{}, err
	}
	return key.Unwrap(&r, frame.KindManifest)
}

func TestMasterKeyFile(t *testing.T) {
	secret := NewSecret()
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
				continue
			}
			record := key.Wrap(frame.AppendHeader(nil, frame.KindManifest), NewNonce(), secret)
			if got, err := unwrapped(key, record); err != nil || got != secret {
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
