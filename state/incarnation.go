package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Incarnation is a stream's life under one configuration and one secret. Its record is written once, when the stream is
// opened. It is rewritten only when the master key is rotated: opened under the old key, sealed under the new one.
// Everything except the seal key is public.
//
//	format u8 ‖ kind u8 ‖ id 16 ‖ topic 16 ‖ partition i32 ‖ start i64 ‖ key version u32 ‖ stream var ‖ cluster var
//	‖ config var ‖ plan var ‖ [order] ‖ nonce 24 ‖ key check 16 ‖ wrapped seal key 48 ‖ CRC-32C u32
//
// The order is in format 2, which is for a whole topic; appendOrdered defines its bytes.
type Incarnation struct {
	ID         [16]byte // random, or derived by SeededID
	Stream     string   // public id of the stream
	Cluster    string   // Kafka cluster id
	Topic      [16]byte // UUID of the input topic
	Partition  int32    // partition of the input topic
	Config     string   // canonical configuration
	Params     []byte   // the learner's frozen params, from streams.Learner.Params
	Start      int64    // first offset of the incarnation; 0 for a stream of a whole topic
	Order      *Ordered // start in each partition, for a stream of a whole topic; nil for a stream of one partition
	SealKey    Secret   // opens the stream's sealed states, and derives no noise; stored encrypted under the master key
	KeyVersion uint32   // version of the seal key; wrapping under another master key does not change it
}

// NewIncarnation returns i with ID and SealKey drawn from crypto/rand and KeyVersion 1; these fields of i must be zero.
func NewIncarnation(i Incarnation) Incarnation {
	if i.ID != [16]byte{} || i.SealKey != (Secret{}) || i.KeyVersion != 0 {
		panic("BUG: state: incarnation has an identity already")
	}
	id := NewSecret()
	copy(i.ID[:], id[:])
	i.SealKey, i.KeyVersion = NewSecret(), 1
	return i
}

// Seal returns the record. Two calls give records with different nonces. The seal key is bound to every other field.
func (i Incarnation) Seal(master *MasterKey) []byte { return i.seal(master, newNonce()) }

func (i Incarnation) seal(master *MasterKey, n nonce) []byte {
	b := appendHeader(nil, KindIncarnation)
	b = append(b, i.ID[:]...)
	b = append(b, i.Topic[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(i.Partition))
	b = binary.LittleEndian.AppendUint64(b, uint64(i.Start))
	b = binary.LittleEndian.AppendUint32(b, i.KeyVersion)
	b = appendVariable(b, i.Stream)
	b = appendVariable(b, i.Cluster)
	b = appendVariable(b, i.Config)
	b = appendVariable(b, i.Params)
	if i.Order != nil {
		b[0] = format2
		b = appendOrdered(b, i.Order)
	}
	b = master.wrap(b, n, i.SealKey)
	return appendChecksum(b, 0)
}

// OpenIncarnation opens a record that Seal made with the same master key. Errors: ErrFormat, ErrCorrupt, ErrWrongKey.
func OpenIncarnation(b []byte, master *MasterKey) (Incarnation, error) {
	r, err := unframe(b, KindIncarnation)
	if err != nil {
		return Incarnation{}, err
	}
	i := Incarnation{
		ID:         r.array16(),
		Topic:      r.array16(),
		Partition:  int32(r.uint32()),
		Start:      int64(r.uint64()),
		KeyVersion: r.uint32(),
		Stream:     string(r.variable()),
		Cluster:    string(r.variable()),
		Config:     string(r.variable()),
		Params:     bytes.Clone(r.variable()),
	}
	if r.format > format1 {
		i.Order = r.ordered()
	}
	if r.bad {
		return Incarnation{}, malformed(KindIncarnation)
	}
	if i.SealKey, err = master.unwrap(&r, KindIncarnation); err != nil {
		return Incarnation{}, err
	}
	return i, nil
}

// InitialKey returns k_0, the first key of the stream's noise chain: HKDF-SHA-256 without salt of secret. secret is
// drawn at opening, never stored, and independent of the seal key. The info is "k0" followed by cluster, topic UUID,
// partition i32, stream, incarnation id, configuration and plan, each after its length u32. k_0 is stored only in the
// sealed state of step 0.
func (i Incarnation) InitialKey(secret [32]byte) [32]byte {
	info := []byte("k0")
	info = appendVariable(info, i.Cluster)
	info = appendVariable(info, i.Topic[:])
	info = appendVariable(info, binary.LittleEndian.AppendUint32(nil, uint32(i.Partition)))
	info = appendVariable(info, i.Stream)
	info = appendVariable(info, i.ID[:])
	info = appendVariable(info, i.Config)
	info = appendVariable(info, i.Params)
	return [32]byte(expand(secret[:], string(info), 32))
}

// SeededID returns the incarnation id of a replay with a seed: the first 16 bytes of HKDF-SHA-256(seed, "id").
func SeededID(seed [32]byte) [16]byte { return [16]byte(expand(seed[:], "id", 16)) }

// belongs returns an error if a record with these public fields does not belong to i.
func (i Incarnation) belongs(k Kind, id [16]byte, partition int32, keyVersion uint32) error {
	switch {
	case partition != i.Partition:
		return fmt.Errorf("%w: %v of partition %d, want partition %d", ErrForeign, k, partition, i.Partition)
	case id != i.ID:
		return fmt.Errorf("%w: %v of incarnation %x, want %x", ErrForeign, k, id, i.ID)
	case keyVersion != i.KeyVersion:
		return fmt.Errorf("%w: %v under key version %d, want %d", ErrForeign, k, keyVersion, i.KeyVersion)
	}
	return nil
}
