package noise

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
)

// Identity is the position of a record in the log. A record that is appended again after an unclean leader election has
// another leader epoch. So its identity differs, even if its bytes are the same.
type Identity struct {
	Topic       [16]byte // UUID of the input topic
	Partition   int32
	Offset      int64
	LeaderEpoch int32
}

// NodeID names one noise vector of a stream. It must be unique for each mechanism instance and vector.
type NodeID struct {
	Instance uint16 // mechanism instance within the stream
	Block    uint64 // a number within the instance, for example a tree's window block or a step
	Level    uint8
	Index    uint64
}

// Seed determines a noise vector completely. It is as secret as the vector.
type Seed [32]byte

// String hides the seed, so that no log can show it.
func (Seed) String() string { return "noise.Seed(hidden)" }

// GoString hides the seed from %#v.
func (Seed) GoString() string { return "noise.Seed(hidden)" }

// Chain is the keyed ratchet k_0, k_1, … that binds noise to the history it protects; doc.go defines every byte. It
// allocates nothing. It is not safe for concurrent use.
type Chain struct {
	key [sha256.Size]byte
	*hasher
}

// Scratch is the hashing memory of chains. Many chains may share one if only one is in use at a time. It must be kept
// as secret as the chains, because the last message and its HMAC stay in it until the next call overwrites them. No
// call reads data of another chain: the hash states of a key are used only for that key.
type Scratch struct{ hasher }

// hasher hashes messages under the key of a chain.
type hasher struct {
	hash digest
	sum  [sha256.Size]byte
	buf  [8 * sha256.BlockSize]byte // bytes not hashed yet
	used int

	// States of hash after the inner and the outer block of the key stateKey, kept from the first Seed to the next
	// Absorb; otherwise empty. They save two blocks per call.
	stateKey     [sha256.Size]byte
	inner, outer []byte
}

// digest is the type of the value that sha256.New returns.
type digest interface {
	hash.Hash
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// NewScratch returns scratch memory that chains can share.
func NewScratch() *Scratch {
	const room = 2 * sha256.BlockSize
	return &Scratch{hasher{hash: sha256.New().(digest), inner: make([]byte, 0, room), outer: make([]byte, 0, room)}}
}

// Chain starts a chain at key, which is k_0 of a stream or the key from a sealed state.
func (s *Scratch) Chain(key [32]byte) Chain { return Chain{key, &s.hasher} }

// NewChain starts a chain at key with its own Scratch.
func NewChain(key [32]byte) *Chain {
	c := NewScratch().Chain(key)
	return &c
}

// Key returns the current key of the chain. It may be stored in sealed state only.
func (c *Chain) Key() [32]byte { return c.key }

// Field tags. They are part of a stored format, so a new field must take a new number.
const (
	tagDomain       = 1 // followed by: u32 length, bytes
	tagStep         = 2 // followed by: u64
	tagPlace        = 3 // followed by: u32
	tagIdentity     = 4 // followed by: 16 bytes, i32, i64, i32
	tagContribution = 5 // followed by: null flag u8, u32 count, count × i64
	tagNode         = 6 // followed by: u16, u64, u8, u64
	tagName         = 7 // followed by: u32 length, bytes
	tagChoice       = 8 // followed by: u16, 4 × u64, u32 count, count × i64
)

// Absorb ratchets the key over one record: k ← HMAC(k, "record" ‖ step ‖ place ‖ id ‖ contribution). step is the number
// t of the record's step, from 1; place is its position j in the batch. A nil contribution sets the null flag, so it
// gives another key than a contribution of zeros. The contribution must contain every private quantity of the record.
func (c *Chain) Absorb(step uint64, place uint32, id Identity, contribution []int64) {
	c.begin("record")
	b := append(c.buf[:c.used], tagStep)
	b = binary.LittleEndian.AppendUint64(b, step)
	b = append(b, tagPlace)
	b = binary.LittleEndian.AppendUint32(b, place)
	b = append(b, tagIdentity)
	b = append(b, id.Topic[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(id.Partition))
	b = binary.LittleEndian.AppendUint64(b, uint64(id.Offset))
	b = binary.LittleEndian.AppendUint32(b, uint32(id.LeaderEpoch))
	null := byte(0)
	if contribution == nil {
		null = 1
	}
	b = append(b, tagContribution, null)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(contribution)))
	c.used = len(b)
	c.numbers(contribution)
	c.ratchet()
}

// Draw ratchets the key over the scores of a choice, k ← HMAC(k, "choice" ‖ step ‖ place ‖ choice), and returns the
// seed of its draw, HMAC(k, "draw"). So no two draws have the same seed, even if their instances are equal. rate holds
// numerator and denominator of ε and of the sensitivity. scores must contain every private quantity that the choice
// depends on.
func (c *Chain) Draw(step uint64, place uint32, instance uint16, rate [4]uint64, scores []int64) Seed {
	c.begin("choice")
	b := append(c.buf[:c.used], tagStep)
	b = binary.LittleEndian.AppendUint64(b, step)
	b = append(b, tagPlace)
	b = binary.LittleEndian.AppendUint32(b, place)
	b = append(b, tagChoice)
	b = binary.LittleEndian.AppendUint16(b, instance)
	for _, x := range rate {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(scores)))
	c.used = len(b)
	c.numbers(scores)
	c.ratchet()
	c.begin("draw")
	return c.finish()
}

// numbers appends any number of integers to the message.
func (c *Chain) numbers(v []int64) {
	for len(v) > 0 {
		room := c.buf[c.used:]
		n := min(len(v), len(room)/8)
		for _, x := range v[:n] {
			binary.LittleEndian.PutUint64(room, uint64(x))
			room = room[8:]
		}
		c.used += 8 * n
		if v = v[n:]; len(v) > 0 {
			c.flush()
		}
	}
}

// ratchet replaces the key by the message's HMAC.
func (c *Chain) ratchet() {
	c.key = c.finish()
	c.clear()
}

// Tag returns HMAC(k, "tag" ‖ name): for each name a digest of the whole history so far. Without k it cannot be
// distinguished from random bits. It has its own domain, so publishing it reveals nothing about a key or a seed.
func (c *Chain) Tag(name string) [32]byte {
	c.begin("tag")
	b := append(c.buf[:c.used], tagName)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	c.used = len(b)
	c.write([]byte(name))
	return c.finish()
}

// write appends any number of bytes to the message.
func (c *Chain) write(b []byte) {
	for len(b) > 0 {
		n := copy(c.buf[c.used:], b)
		c.used += n
		if b = b[n:]; len(b) > 0 {
			c.flush()
		}
	}
}

// clear empties the kept hash states of a key.
func (h *hasher) clear() {
	clear(h.inner)
	clear(h.outer)
	h.inner, h.outer, h.stateKey = h.inner[:0], h.outer[:0], [sha256.Size]byte{}
}

// Seed returns the seed of node x, activated at the step whose last record was just absorbed: HMAC(k, "noise" ‖ x).
func (c *Chain) Seed(x NodeID) Seed {
	c.remember()
	c.begin("noise")
	b := append(c.buf[:c.used], tagNode)
	b = binary.LittleEndian.AppendUint16(b, x.Instance)
	b = binary.LittleEndian.AppendUint64(b, x.Block)
	b = append(b, x.Level)
	b = binary.LittleEndian.AppendUint64(b, x.Index)
	c.used = len(b)
	return c.finish()
}

// remember keeps the hash states of the key.
func (c *Chain) remember() {
	if len(c.inner) > 0 && c.stateKey == c.key {
		return
	}
	c.clear()
	c.outer = c.keyed(c.outer, 0x5c)
	c.inner = c.keyed(c.inner, 0x36)
	c.stateKey = c.key
}

// keyed appends to dst the state of hash after the key's block, xor the byte x.
func (c *Chain) keyed(dst []byte, x uint64) []byte {
	c.start(nil, x)
	c.flush()
	dst, err := c.hash.AppendBinary(dst)
	if err != nil {
		panic("BUG: noise: SHA-256 has no state")
	}
	return dst
}

// start makes the key's block, xor the byte x, the first block of the hash: from its kept state or, if there is none,
// by putting it in the buffer.
func (c *Chain) start(state []byte, x uint64) {
	c.used = 0
	if len(state) > 0 {
		if err := c.hash.UnmarshalBinary(state); err != nil {
			panic("BUG: noise: SHA-256 refuses its state")
		}
		return
	}
	c.hash.Reset()
	x *= 0x0101010101010101
	for i := 0; i < sha256.BlockSize; i += 8 {
		binary.LittleEndian.PutUint64(c.buf[i:], x)
	}
	for i := 0; i < sha256.Size; i += 8 {
		binary.LittleEndian.PutUint64(c.buf[i:], x^binary.LittleEndian.Uint64(c.key[i:]))
	}
	c.used = sha256.BlockSize
}

// begin starts the inner hash of HMAC-SHA-256 (RFC 2104) and the message with its domain.
func (c *Chain) begin(domain string) {
	if len(c.inner) > 0 && c.stateKey != c.key {
		c.clear() // ready to absorb another chain
	}
	c.start(c.inner, 0x36)
	b := append(c.buf[:c.used], tagDomain)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(domain)))
	b = append(b, domain...)
	c.used = len(b)
}

// flush hashes the buffer. The buffer is large because each call costs as much as a third of a block.
func (h *hasher) flush() {
	h.hash.Write(h.buf[:h.used])
	h.used = 0
}

// finish ends the inner hash and returns the outer hash.
func (c *Chain) finish() [sha256.Size]byte {
	c.flush()
	c.hash.Sum(c.sum[:0])
	c.start(c.outer, 0x5c)
	c.used += copy(c.buf[c.used:], c.sum[:])
	c.flush()
	c.hash.Sum(c.sum[:0])
	return c.sum
}
