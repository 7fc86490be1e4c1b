package state

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"oriel/state/frame"
	"oriel/state/keys"
)

// Manifest holds the facts on which all members of a deployment must agree. One is written to each changelog partition
// before any stream is opened; a member with another configuration refuses to run.
//
//	format u8 ‖ kind u8 ‖ SHA-256 of config 32 ‖ config var ‖ semantics u32 ‖ input id 16 ‖ input name var ‖ texts var
//	‖ nonce 24 ‖ key check 16 ‖ wrapped name key 48 ‖ CRC-32C u32
type Manifest struct {
	Config    string       // canonical configuration, lines NAME=value; stored in clear, because settings are public
	Texts     string       // texts of values that Config has as digests, in the form of AppendText; only errors show them
	Semantics uint32       // semantics version of the program that wrote the manifest, from 1
	Input     Input        // the topic of the deployment's events
	NameKey   keys.NameKey // hides stream names in keys of topics and stores; stored encrypted under the master key
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
func (m Manifest) Seal(master *keys.MasterKey) []byte { return m.seal(master, keys.NewNonce()) }

func (m Manifest) seal(master *keys.MasterKey, n keys.Nonce) []byte {
	hash := sha256.Sum256([]byte(m.Config))
	b := frame.AppendHeader(nil, frame.KindManifest)
	b = append(b, hash[:]...)
	b = frame.AppendVariable(b, m.Config)
	b = binary.LittleEndian.AppendUint32(b, m.Semantics)
	b = append(b, m.Input.ID[:]...)
	b = frame.AppendVariable(b, m.Input.Name)
	b = frame.AppendVariable(b, m.Texts)
	b = master.Wrap(b, n, keys.Secret(m.NameKey))
	return frame.AppendChecksum(b, 0)
}

// OpenManifest opens a record that Seal made with the same master key. Errors: ErrFormat, ErrCorrupt, ErrWrongKey.
func OpenManifest(b []byte, master *keys.MasterKey) (Manifest, error) {
	r, err := frame.Open(b, frame.KindManifest)
	if err != nil {
		return Manifest{}, err
	}
	hash, config := r.Array32(), r.Variable()
	m := Manifest{Config: string(config)}
	m.Semantics, m.Input = r.Uint32(), Input{ID: r.Array16(), Name: string(r.Variable())}
	m.Texts = string(r.Variable())
	if r.Bad || m.Semantics < 1 {
		return Manifest{}, frame.Malformed(frame.KindManifest)
	}
	key, err := master.Unwrap(&r, frame.KindManifest)
	if err != nil {
		return Manifest{}, err
	}
	if hash != sha256.Sum256(config) {
		return Manifest{}, fmt.Errorf("%w: configuration of the manifest does not match its hash", frame.ErrCorrupt)
	}
	m.NameKey = keys.NameKey(key)
	return m, nil
}

// Identity identifies the deployment to which a local store belongs.
//
//	format u8 ‖ kind u8 ‖ topic 16 ‖ cluster var ‖ name var ‖ CRC-32C u32
type Identity struct {
	Cluster string   // Kafka cluster id
	Name    string   // the deployment's name
	Topic   [16]byte // UUID of the input topic
}

// Append appends the identity as a record.
func (i Identity) Append(dst []byte) []byte {
	start := len(dst)
	dst = frame.AppendHeader(dst, frame.KindIdentity)
	dst = append(dst, i.Topic[:]...)
	dst = frame.AppendVariable(dst, i.Cluster)
	dst = frame.AppendVariable(dst, i.Name)
	return frame.AppendChecksum(dst, start)
}

// ParseIdentity parses a record that Append wrote.
func ParseIdentity(b []byte) (Identity, error) {
	r, err := frame.Open(b, frame.KindIdentity)
	if err != nil {
		return Identity{}, err
	}
	i := Identity{Topic: r.Array16(), Cluster: string(r.Variable()), Name: string(r.Variable())}
	if !r.Done() {
		return Identity{}, frame.Malformed(frame.KindIdentity)
	}
	return i, nil
}

// Compare returns an error if the stored identity differs from this process's own. The error names the difference and
// the remedy.
func (i Identity) Compare(own Identity, dir string) error {
	var differs []string
	if i.Cluster != own.Cluster {
		differs = append(differs, fmt.Sprintf("cluster %q, not %q", i.Cluster, own.Cluster))
	}
	if i.Name != own.Name {
		differs = append(differs, fmt.Sprintf("name %q, not %q", i.Name, own.Name))
	}
	if i.Topic != own.Topic {
		differs = append(differs, fmt.Sprintf("input topic %x, not %x", i.Topic, own.Topic))
	}
	if differs == nil {
		return nil
	}
	return fmt.Errorf("%w: directory %s holds the state of %s; give this deployment a directory of its own, or remove this one if nothing uses it",
		frame.ErrForeign, dir, strings.Join(differs, ", "))
}

// Store is the local copy of the changelog: per partition, the newest record of each key. A take-over reads it, and
// each commit updates it AFTER its Kafka transaction has ended. Package local implements it on disk.
type Store interface {
	// Load returns the records of a partition, sorted by key. After ErrCorrupt the caller must restore them from the
	// changelog with Replace.
	Load(partition int32) ([]Record, error)
	// Follow writes records, which replace those of equal key, all or none. It may wait while the disk is full.
	Follow(partition int32, records []Record) error
	// Replace replaces all records of a partition, all or none.
	Replace(partition int32, records []Record) error
	// MayHaveLost reports whether files of an earlier process could not be used. They may have held any partition.
	MayHaveLost() bool
}

// Errors of a local store. A caller distinguishes them with errors.Is.
var (
	// ErrLocked means that another process, or another Store of this process, has the directory open.
	ErrLocked = errors.New("state: directory in use")
	// ErrFailed means that the local store cannot continue until the process restarts. Nothing is lost, because the
	// changelog has everything.
	ErrFailed = errors.New("state: local store failed")
)

// Record is one record of a partition. Its key is the changelog's: a hash, see keys.NameKey.Key, or the key of a
// Segment. A nil value deletes the record of its key.
type Record struct{ Key, Value []byte }
