package users

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"

	"oriel/state"
)

// IDSize is the length of an ID, and MaxPartIDs the largest number of ids in a segment of the changelog.
const (
	IDSize     = 16
	MaxPartIDs = state.MaxSegment / IDSize
)

// ID is the hash by which Oriel remembers a user. It is not zero, which marks free slots of a set.
type ID [IDSize]byte

// Hasher makes ids. It keeps the state of the hash after the key, and does not allocate. It is not safe for concurrent
// use.
type Hasher struct {
	key [32]byte
	mac hash.Hash
	sum []byte
}

// Clone returns a Hasher with the same key, for another goroutine.
func (h *Hasher) Clone() *Hasher {
	clone := new(Hasher)
	clone.rekey(h.key)
	return clone
}

func (h *Hasher) rekey(key [32]byte) {
	h.key, h.mac = key, hmac.New(sha256.New, key[:])
}

var (
	domain      = []byte("oriel user")
	valueDomain = []byte("oriel value")
)

// ID returns HMAC-SHA-256(key, "oriel user" ‖ user), first 128 bits, or 1 in place of 0.
func (h *Hasher) ID(user []byte) (id ID) {
	h.mac.Reset()
	h.mac.Write(domain)
	h.mac.Write(user)
	return h.end()
}

// end returns the id that the hash ends with.
func (h *Hasher) end() (id ID) {
	h.sum = h.mac.Sum(h.sum[:0])
	if copy(id[:], h.sum); id == (ID{}) {
		id[len(id)-1] = 1
	}
	return id
}

// pair returns HMAC-SHA-256(key, "oriel value" ‖ id of a user ‖ value), first 128 bits, or 1 in place of 0.
func (h *Hasher) pair(user ID, value []byte) (pair ID) {
	h.mac.Reset()
	h.mac.Write(valueDomain)
	h.sum = append(h.sum[:0], user[:]...) // user itself would escape to the heap
	h.mac.Write(h.sum)
	h.mac.Write(value)
	return h.end()
}
