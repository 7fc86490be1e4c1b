package state

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"oriel/state/frame"
	"oriel/state/keys"
)

// Incarnation is a stream's life under one configuration and one secret. Its record is written once, when the stream is
// opened. It is rewritten only when the master key is rotated: opened under the old key, sealed under the new one.
// Everything except the seal key is public.
//
//	format u8 ‖ kind u8 ‖ id 16 ‖ topic 16 ‖ partition i32 ‖ start i64 ‖ key version u32 ‖ stream var ‖ cluster var
//	‖ config var ‖ params var ‖ order ‖ nonce 24 ‖ key check 16 ‖ wrapped seal key 48 ‖ CRC-32C u32
//
// appendOrdered defines the bytes of the order.
type Incarnation struct {
	ID         [16]byte    // random, or derived by SeededID
	Stream     string      // public id of the stream
	Cluster    string      // Kafka cluster id
	Topic      [16]byte    // UUID of the input topic
	Partition  int32       // partition of the input topic
	Config     string      // canonical configuration
	Params     []byte      // the learner's frozen params, from streams.Learner.Params
	Start      int64       // first offset of the incarnation; 0 for a stream of a whole topic
	Order      *Ordered    // start in each partition, for a stream of a whole topic; nil for a stream of one partition
	SealKey    keys.Secret // opens the stream's sealed states, and derives no noise; stored encrypted under the master key
	KeyVersion uint32      // version of the seal key; wrapping under another master key does not change it
}

// NewIncarnation returns i with ID and SealKey drawn from crypto/rand and KeyVersion 1; these fields of i must be zero.
func NewIncarnation(i Incarnation) Incarnation {
	if i.ID != [16]byte{} || i.SealKey != (keys.Secret{}) || i.KeyVersion != 0 {
		panic("BUG: state: incarnation has an identity already")
	}
	id := keys.NewSecret()
	copy(i.ID[:], id[:])
	i.SealKey, i.KeyVersion = keys.NewSecret(), 1
	return i
}

// Seal returns the record. Two calls give records with different nonces. The seal key is bound to every other field.
func (i Incarnation) Seal(master *keys.MasterKey) []byte { return i.seal(master, keys.NewNonce()) }

func (i Incarnation) seal(master *keys.MasterKey, n keys.Nonce) []byte {
	b := frame.AppendHeader(nil, frame.KindIncarnation)
	b = append(b, i.ID[:]...)
	b = append(b, i.Topic[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(i.Partition))
	b = binary.LittleEndian.AppendUint64(b, uint64(i.Start))
	b = binary.LittleEndian.AppendUint32(b, i.KeyVersion)
	b = frame.AppendVariable(b, i.Stream)
	b = frame.AppendVariable(b, i.Cluster)
	b = frame.AppendVariable(b, i.Config)
	b = frame.AppendVariable(b, i.Params)
	b = appendOrdered(b, i.Order)
	b = master.Wrap(b, n, i.SealKey)
	return frame.AppendChecksum(b, 0)
}

// OpenIncarnation opens a record that Seal made with the same master key. Errors: ErrFormat, ErrCorrupt, ErrWrongKey.
func OpenIncarnation(b []byte, master *keys.MasterKey) (Incarnation, error) {
	r, err := frame.Open(b, frame.KindIncarnation)
	if err != nil {
		return Incarnation{}, err
	}
	i := Incarnation{
		ID:         r.Array16(),
		Topic:      r.Array16(),
		Partition:  int32(r.Uint32()),
		Start:      int64(r.Uint64()),
		KeyVersion: r.Uint32(),
		Stream:     string(r.Variable()),
		Cluster:    string(r.Variable()),
		Config:     string(r.Variable()),
		Params:     bytes.Clone(r.Variable()),
		Order:      readOrdered(&r),
	}
	if r.Bad {
		return Incarnation{}, frame.Malformed(frame.KindIncarnation)
	}
	if i.SealKey, err = master.Unwrap(&r, frame.KindIncarnation); err != nil {
		return Incarnation{}, err
	}
	return i, nil
}

// InitialKey returns k_0, the first key of the stream's noise chain: HKDF-SHA-256 without salt of secret. secret is
// drawn at opening, never stored, and independent of the seal key. The info is "k0" followed by cluster, topic UUID,
// partition i32, stream, incarnation id, configuration and params, each after its length u32. k_0 is stored only in the
// sealed state of step 0.
func (i Incarnation) InitialKey(secret [32]byte) [32]byte {
	info := []byte("k0")
	info = frame.AppendVariable(info, i.Cluster)
	info = frame.AppendVariable(info, i.Topic[:])
	info = frame.AppendVariable(info, binary.LittleEndian.AppendUint32(nil, uint32(i.Partition)))
	info = frame.AppendVariable(info, i.Stream)
	info = frame.AppendVariable(info, i.ID[:])
	info = frame.AppendVariable(info, i.Config)
	info = frame.AppendVariable(info, i.Params)
	return [32]byte(keys.Expand(secret[:], string(info), 32))
}

// SeededID returns the incarnation id of a replay with a seed: the first 16 bytes of HKDF-SHA-256(seed, "id").
func SeededID(seed [32]byte) [16]byte { return [16]byte(keys.Expand(seed[:], "id", 16)) }

// belongs returns an error if a record with these public fields does not belong to i.
func (i Incarnation) belongs(k frame.Kind, id [16]byte, partition int32, keyVersion uint32) error {
	switch {
	case partition != i.Partition:
		return fmt.Errorf("%w: %v of partition %d, want partition %d", frame.ErrForeign, k, partition, i.Partition)
	case id != i.ID:
		return fmt.Errorf("%w: %v of incarnation %x, want %x", frame.ErrForeign, k, id, i.ID)
	case keyVersion != i.KeyVersion:
		return fmt.Errorf("%w: %v under key version %d, want %d", frame.ErrForeign, k, keyVersion, i.KeyVersion)
	}
	return nil
}

// Amendment holds the params appended to a stream's frozen params since its opening: public settings that apply from a
// later step on. It is authenticated, because a repeated step must give the same decision.
//
//	format u8 ‖ kind u8 ‖ appended var ‖ HMAC-SHA-256(key, stream var ‖ all before it) 32 ‖ CRC-32C u32
type Amendment []byte

// Seal returns the record of a stream's amendment.
func (a Amendment) Seal(key [32]byte, stream string) []byte {
	b := frame.AppendVariable(frame.AppendHeader(nil, frame.KindAmendment), []byte(a))
	return frame.CloseAuthentic(b, key, stream)
}

// OpenAmendment opens a record that Seal made with the same key for the same stream. Errors: ErrFormat, ErrCorrupt,
// ErrForeign.
func OpenAmendment(b []byte, key [32]byte, stream string) (Amendment, error) {
	r, err := frame.OpenAuthentic(b, frame.KindAmendment, key, stream)
	if err != nil {
		return nil, err
	}
	a := Amendment(r.Variable())
	if !r.Done() {
		return nil, frame.Malformed(frame.KindAmendment)
	}
	return a, nil
}
