package noise

import (
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"hash"
	"slices"
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
// allocates only at the first record of a partition. It is not safe for concurrent use.
type Chain struct {
	key   [sha256.Size]byte
	topic [16]byte // of the events of the open step; zeros if there are none
	rows  []row    // one for each partition that had a record, ascending
	at    int      // index of the row of the last record
	*hasher
}

// row is what the open step has absorbed of one partition. It depends on the events of this partition alone.
type row struct {
	partition int32
	number    uint64            // events
	digest    [sha256.Size]byte // d_p of doc.go; zeros if there are no events
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
func (s *Scratch) Chain(key [32]byte) Chain { return Chain{key: key, hasher: &s.hasher} }

// NewChain starts a chain at key with its own Scratch.
func NewChain(key [32]byte) *Chain {
	c := NewScratch().Chain(key)
	return &c
}

// Key returns the current key of the chain. It may be stored in sealed state only.
func (c *Chain) Key() [32]byte { return c.key }

// Field tags. They are part of a stored format, so a new field must take a new number.
const (
	tagDomain    = 1 // followed by: u32 length, bytes
	tagStep      = 2 // followed by: u64
	tagTopic     = 3 // followed by: 16 bytes
	tagPartition = 4 // followed by: i32, u64, 32 bytes
	tagNode      = 5 // followed by: u16, u64, u8, u64
	tagName      = 6 // followed by: u32 length, bytes
	tagChoice    = 7 // followed by: u16, 4 × u64, u32 count, count × i64
)

// Absorb adds an event to the open step: d_p ← SHA-256(d_p ‖ offset ‖ epoch ‖ length ‖ contribution), p the partition.
// The contribution must contain every private quantity of the event. nil is a record that is no event: it changes no
// key, tag or seed, and Absorb only makes room for its partition. All events of a step must be of one topic.
func (c *Chain) Absorb(id Identity, contribution []int64) {
	if c.event(id, contribution == nil, len(contribution)) {
		c.numbers(contribution)
		c.absorbed()
	}
}

// AbsorbName is Absorb for an event whose contribution is one more of a name: d_p ← SHA-256(d_p ‖ offset ‖ epoch ‖
// length ‖ name). A chain has one of the two for life. nil is a record that is no event.
func (c *Chain) AbsorbName(id Identity, name []byte) {
	if c.event(id, name == nil, len(name)) {
		c.write(name)
		c.absorbed()
	}
}

// event finds the row of a record and, unless the record is no event, begins the message of its digest.
func (c *Chain) event(id Identity, null bool, length int) bool {
	if c.at == len(c.rows) || c.rows[c.at].partition != id.Partition {
		c.find(id.Partition)
	}
	if null {
		return false
	}
	if c.topic != id.Topic {
		if c.topic != [16]byte{} {
			panic("BUG: noise: events of two topics in one step")
		}
		c.topic = id.Topic
	}
	r := &c.rows[c.at]
	r.number++
	b := append(c.buf[:0], r.digest[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(id.Offset))
	b = binary.LittleEndian.AppendUint32(b, uint32(id.LeaderEpoch))
	b = binary.LittleEndian.AppendUint32(b, uint32(length))
	c.used = len(b)
	c.hash.Reset()
	return true
}

// absorbed ends the message that event began.
func (c *Chain) absorbed() {
	c.flush()
	c.hash.Sum(c.rows[c.at].digest[:0])
}

// Events returns the number of events of the open step.
func (c *Chain) Events() uint64 {
	events := uint64(0)
	for _, r := range c.rows {
		events += r.number
	}
	return events
}

// find sets at to the row of a partition, and inserts the row if there is none.
func (c *Chain) find(partition int32) {
	order := func(r row, p int32) int { return cmp.Compare(r.partition, p) }
	at, found := slices.BinarySearchFunc(c.rows, partition, order)
	if !found {
		c.rows = slices.Insert(c.rows, at, row{partition: partition})
	}
	c.at = at
}

// Close ratchets the key over the open step, k ← HMAC(k, "step" ‖ step ‖ topic ‖ partitions), and opens the next one.
// step is the number t of the closed step, from 1. Seeds of the step's nodes must be drawn AFTER, and then Drawn
// called.
func (c *Chain) Close(step uint64) {
	c.begin("step")
	b := append(c.buf[:c.used], tagStep)
	b = binary.LittleEndian.AppendUint64(b, step)
	c.used = len(b)
	c.open()
	c.ratchet()
	for i := range c.rows {
		c.rows[i] = row{partition: c.rows[i].partition}
	}
	c.topic = [16]byte{}
}

// open appends topic and partitions of the open step to the message.
func (c *Chain) open() {
	c.write(append(c.sum[:0], tagTopic))
	c.write(c.topic[:])
	for _, r := range c.rows {
		if r.number == 0 {
			continue
		}
		b := append(c.sum[:0], tagPartition)
		b = binary.LittleEndian.AppendUint32(b, uint32(r.partition))
		c.write(binary.LittleEndian.AppendUint64(b, r.number))
		c.write(r.digest[:])
	}
}

// Drawn ratchets the key once more, k ← HMAC(k, "drawn"), after all seeds of a step were drawn. So no later state has
// the key of noise that was published.
func (c *Chain) Drawn() {
	c.begin("drawn")
	c.ratchet()
}

// Draw ratchets the key over the scores of a choice, k ← HMAC(k, "choice" ‖ step ‖ choice), and returns the seed of its
// draw, HMAC(k, "draw"). Then it ratchets the key as Drawn does. So no two draws have the same seed, even if their
// instances are equal. rate holds numerator and denominator of ε and of the sensitivity. scores must contain every
// private quantity that the choice depends on.
func (c *Chain) Draw(step uint64, instance uint16, rate [4]uint64, scores []int64) Seed {
	c.begin("choice")
	b := append(c.buf[:c.used], tagStep)
	b = binary.LittleEndian.AppendUint64(b, step)
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
	seed := c.finish()
	c.Drawn()
	return seed
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

// Tag returns HMAC(k, "tag" ‖ name ‖ topic ‖ partitions): for each name a digest of the whole history so far, with the
// events of the open step. Without k it cannot be distinguished from random bits. It has its own domain, so publishing
// it reveals nothing about a key or a seed.
func (c *Chain) Tag(name string) [32]byte {
	c.begin("tag")
	b := append(c.buf[:c.used], tagName)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	c.used = len(b)
	c.write([]byte(name))
	c.open()
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

// Seed returns the seed of node x, activated at the step that Close has just closed: HMAC(k, "noise" ‖ x).
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

// A state of a chain is, little-endian: key 32 bytes, topic 16 bytes, number of rows u32, and the rows in ascending
// order of partitions, each i32 partition, u64 number, 32 bytes digest.
const chainHead = sha256.Size + 16 + 4

// PartitionLen is the number of bytes that each partition with a record adds to the state of a chain.
const PartitionLen = 4 + 8 + sha256.Size

// StateLen returns the length of the chain's state. It is a function of the number of partitions that had a record,
// whatever the records were.
func (c *Chain) StateLen() int { return chainHead + PartitionLen*len(c.rows) }

// AppendState appends the state. It must only ever be stored sealed, because it holds the key, and digests of events of
// the open step.
func (c *Chain) AppendState(dst []byte) []byte {
	dst = append(append(dst, c.key[:]...), c.topic[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(c.rows)))
	for _, r := range c.rows {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(r.partition))
		dst = binary.LittleEndian.AppendUint64(dst, r.number)
		dst = append(dst, r.digest[:]...)
	}
	return dst
}

var errRows = errors.New("noise: state: rows of partitions are not as a chain writes them")

// CutState returns the chain whose state begins b, and the bytes after it. It refuses bytes that no chain has written.
func (s *Scratch) CutState(b []byte) (c Chain, rest []byte, err error) {
	if len(b) < chainHead {
		return Chain{}, nil, errors.New("noise: state: shorter than that of a chain")
	}
	c = s.Chain([sha256.Size]byte(b))
	c.topic = [16]byte(b[sha256.Size:])
	n, rest := uint64(binary.LittleEndian.Uint32(b[chainHead-4:])), b[chainHead:]
	if n > uint64(len(rest)/PartitionLen) {
		return Chain{}, nil, errRows
	}
	c.rows = make([]row, n)
	events, before := false, int32(-1)
	for i := range c.rows {
		r := row{int32(binary.LittleEndian.Uint32(rest)), binary.LittleEndian.Uint64(rest[4:]), [sha256.Size]byte(rest[12:])}
		if r.partition <= before || r.number == 0 && r != (row{partition: r.partition}) {
			return Chain{}, nil, errRows
		}
		events, before = events || r.number > 0, r.partition
		c.rows[i], rest = r, rest[PartitionLen:]
	}
	if !events && c.topic != [16]byte{} {
		return Chain{}, nil, errRows
	}
	return c, rest, nil
}
