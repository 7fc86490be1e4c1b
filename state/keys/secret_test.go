package keys

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestSecretsPrintNothing checks that key material is not printed by any verb or encoder, nor in any field.
func TestSecretsPrintNothing(t *testing.T) {
	bits, secret, nameKey := NewSecret(), NewSecret(), NewNameKey() // random bits, which no other field can have by chance
	master := NewMasterKey(bits)
	_, check := master.material()
	type holder struct {
		master *MasterKey
		value  MasterKey
	}
	values := map[string]any{
		"Secret": secret, "*Secret": &secret, "NameKey": nameKey, "MasterKey": master, "by value": *master,
		"unexported fields": holder{master, *master},
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
		for _, secret := range [][]byte{secret[:], nameKey[:], bits[:], check[:]} {
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
	for _, v := range []fmt.GoStringer{secret, nameKey, master} {
		if v.GoString() != "[redacted]" || v.(fmt.Stringer).String() != "[redacted]" {
			t.Errorf("%T: %s", v, v.GoString())
		}
	}
}

func TestDrawnSecretsDiffer(t *testing.T) {
	secret, name := NewSecret(), NewNameKey()
	if secret == NewSecret() || name == NewNameKey() || secret == Secret(name) {
		t.Error("two secrets are equal")
	}
}

// TestEachByteIsRandom checks that each byte of a nonce and of a secret is random: a byte equal in 16 pairs has
// probability below 2^−120.
func TestEachByteIsRandom(t *testing.T) {
	nonces, secrets := [len(Nonce{})]byte{}, [len(Secret{})]byte{}
	for range 16 {
		n, s, other, another := NewNonce(), NewSecret(), NewNonce(), NewSecret()
		for i := range n {
			nonces[i] |= n[i] ^ other[i]
		}
		for i := range s {
			secrets[i] |= s[i] ^ another[i]
		}
	}
	if bytes.IndexByte(nonces[:], 0) >= 0 || bytes.IndexByte(secrets[:], 0) >= 0 {
		t.Errorf("bytes that differ: of nonces %x, of secrets %x", nonces, secrets)
	}
}
