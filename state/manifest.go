package state

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// Manifest holds the facts on which all members of a deployment must agree. One is written to each changelog partition
// before any stream is opened; a member with another configuration refuses to run.
//
//	format u8 ‖ kind u8 ‖ SHA-256 of config 32 ‖ config var ‖ semantics u32 ‖ input id 16 ‖ input name var [‖ texts var]
//	‖ nonce 24 ‖ key check 16 ‖ wrapped name key 48 ‖ CRC-32C u32
//
// The texts are in format 3 alone; without texts a manifest has format 2.
type Manifest struct {
	Config    string  // canonical configuration, lines NAME=value; stored in clear, because settings are public
	Texts     string  // texts of values that Config has as digests, in the form of AppendText; only errors show them
	Semantics uint32  // semantics version of the program that wrote the manifest, from 1
	Input     Input   // the topic of the deployment's events
	NameKey   NameKey // hides stream names in keys of topics and stores; stored encrypted under the master key
}

// Input is an input topic: its name, and the id that it keeps until it is deleted.
type Input struct {
	ID   [16]byte
	Name string
}

// ManifestKey returns the Kafka key of the manifest record. It is clear text, and no NameKey.Key has the same length.
func ManifestKey() []byte { return []byte("oriel/manifest") }

// EndedKey returns the Kafka key of the record that ends a stream for good. Its value has the offsets of the input at
// which the stream ended, in clear text, because the writer may not have the deployment's key.
func EndedKey() []byte { return []byte("oriel/ended") }

// Seal returns the record. Two calls give records with different nonces. The name key is bound to the configuration.
func (m Manifest) Seal(master *MasterKey) []byte { return m.seal(master, newNonce()) }

func (m Manifest) seal(master *MasterKey, n nonce) []byte {
	hash := sha256.Sum256([]byte(m.Config))
	format := byte(format2)
	if m.Texts != "" {
		format = format3
	}
	b := append([]byte(nil), format, byte(KindManifest))
	b = append(b, hash[:]...)
	b = appendVariable(b, m.Config)
	b = binary.LittleEndian.AppendUint32(b, m.Semantics)
	b = append(b, m.Input.ID[:]...)
	b = appendVariable(b, m.Input.Name)
	if format == format3 {
		b = appendVariable(b, m.Texts)
	}
	b = master.wrap(b, n, Secret(m.NameKey))
	return appendChecksum(b, 0)
}

// OpenManifest opens a record that Seal made with the same master key. Errors: ErrFormat, ErrCorrupt, ErrWrongKey.
func OpenManifest(b []byte, master *MasterKey) (Manifest, error) {
	r, err := unframe(b, KindManifest)
	if err != nil {
		return Manifest{}, err
	}
	hash, config := r.array32(), r.variable()
	m := Manifest{Config: string(config)}
	m.Semantics, m.Input = r.uint32(), Input{ID: r.array16(), Name: string(r.variable())}
	if r.format == format3 {
		m.Texts = string(r.variable())
	}
	if r.bad || m.Semantics < 1 {
		return Manifest{}, malformed(KindManifest)
	}
	key, err := master.unwrap(&r, KindManifest)
	if err != nil {
		return Manifest{}, err
	}
	if hash != sha256.Sum256(config) {
		return Manifest{}, fmt.Errorf("%w: configuration of the manifest does not match its hash", ErrCorrupt)
	}
	m.NameKey = NameKey(key)
	return m, nil
}

// NameKey is the key under which stream names are hashed. It prints as "[redacted]", see Secret, because with it names
// in a copied topic or store could be tested by guessing.
type NameKey [32]byte

// NewNameKey draws a name key from crypto/rand. A deployment has one name key for life.
func NewNameKey() NameKey { return NameKey(NewSecret()) }

// Key returns the 32-byte key, in topics and stores, of a stream's record of this kind: HMAC-SHA-256(k, "oriel name" ‖
// kind u8 ‖ stream).
func (k NameKey) Key(kind Kind, stream string) []byte {
	key := k.derive("oriel name" + string([]byte{byte(kind)}) + stream)
	return key[:]
}

// Users returns the secret under which user ids are hashed, one for all streams: HMAC-SHA-256(k, "oriel users").
func (k NameKey) Users() [32]byte { return k.derive("oriel users") }

// Order returns the key that authenticates the records of the order log: HMAC-SHA-256(k, "oriel order").
func (k NameKey) Order() [32]byte { return k.derive("oriel order") }

// Schemas returns the key that authenticates frozen schemas: HMAC-SHA-256(k, "oriel schemas").
func (k NameKey) Schemas() [32]byte { return k.derive("oriel schemas") }

func (k NameKey) derive(label string) [32]byte {
	h := hmac.New(sha256.New, k[:])
	_, _ = io.WriteString(h, label)
	return [32]byte(h.Sum(nil))
}

// String hides the content.
func (NameKey) String() string { return redacted }

// GoString hides the content.
func (NameKey) GoString() string { return redacted }

// Format hides the content, whatever the verb.
func (NameKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalJSON hides the content.
func (NameKey) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
