package state

import (
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"

	"oriel/state/frame"
	"oriel/state/keys"
)

// Position is the position of a sealed state in its input. It is public: stored in clear, and authenticated.
type Position struct {
	Topic       [16]byte // UUID of the topic whose offsets Next counts
	Next        int64    // next offset to process, of the input partition, or of the merged log of a whole topic
	LeaderEpoch int32    // leader epoch of the last processed record, −1 before any; always −1 for a whole topic
	Step        uint64   // number of closed steps
	Semantics   uint32   // semantics version that computed the state, from 1

	// Owes is true at step 0 until the machine has made the decisions due before the first record.
	Owes bool

	// Order is the position of a whole topic's stream. Next then counts offsets of the merged stream: the sum over all
	// partitions of the records taken since the incarnation's start. It is nil for the stream of one partition.
	Order *Ordered
}

// Clone returns a copy that shares no memory.
func (p Position) Clone() Position {
	p.Order = p.Order.Clone()
	return p
}

// Equal reports whether two positions are the same.
func (p Position) Equal(o Position) bool {
	a, b := p.Order, o.Order
	p.Order, o.Order = nil, nil
	return p == o && a.equal(b)
}

// Sealer seals and opens the states and statuses of one incarnation. It is not safe for concurrent use.
//
//	format u8 ‖ kind u8 ‖ incarnation 16 ‖ partition i32 ‖ key version u32 ‖ topic 16 ‖ next i64 ‖ leader epoch i32
//	‖ step u64 ‖ semantics u32 ‖ owes u8 ‖ order ‖ length of the machine state u32
//	‖ nonce 24 ‖ machine state, encrypted ‖ tag 16 ‖ CRC-32C u32
//
// The byte owes is 1 if the state owes its first decisions. appendOrdered defines the bytes of the order.
//
// Encryption is XChaCha20-Poly1305 under the seal key with a random nonce. The associated data are everything before
// the nonce, then the stream's name after its length. Nothing is compressed, because a compressed length depends on the
// content.
type Sealer struct {
	incarnation *Incarnation       // without params, configuration, order and seal key
	aead        func() cipher.AEAD // a function, so that fmt cannot print the key; see MasterKey
	machine     int                // length of the last machine state; −1 before the first state
	data        []byte
}

// sealedHeader is the number of bytes before the nonce, for the stream of one partition.
const sealedHeader = frame.HeaderSize + 16 + 4 + 4 + 16 + 8 + 4 + 8 + 4 + 1 + 1 + 4

// sealedOverhead is the length of a sealed state minus the length of its machine state.
const sealedOverhead = sealedHeader + len(keys.Nonce{}) + chacha20poly1305.Overhead + frame.ChecksumSize

// Sealer returns the sealer of i. The seal key must be set: a zero key is refused, because it was never unwrapped.
func (i Incarnation) Sealer() (*Sealer, error) {
	if i.SealKey == (keys.Secret{}) {
		return nil, fmt.Errorf("%w: incarnation without a seal key", keys.ErrWrongKey)
	}
	aead, err := chacha20poly1305.NewX(i.SealKey[:])
	if err != nil {
		panic("BUG: state: seal key of a wrong length")
	}
	i.SealKey, i.Config, i.Params, i.Order = keys.Secret{}, "", nil, nil
	return &Sealer{incarnation: &i, aead: func() cipher.AEAD { return aead }, machine: -1}, nil
}

// PartitionLen is the number of bytes that each partition with a record adds to a machine state: a row of its chain.
const PartitionLen = 44

// fits reports whether a machine state of n bytes may follow the last one: it has other whole rows of partitions alone.
func (s *Sealer) fits(n int) bool { return s.machine < 0 || (n-s.machine)%PartitionLen == 0 }

// Width returns the length of the last sealed state for the stream of one partition, or 0 before the first Seal or
// Open.
func (s *Sealer) Width() int {
	if s.machine < 0 {
		return 0
	}
	return s.machine + sealedOverhead
}

// Seal appends the sealed state to dst and returns it. Machine states that the sealer gets, sealed or opened, may
// differ in length by whole rows of partitions. Seal panics on any other length, because the width of the record would
// reveal the change. dst and machine must not overlap.
func (s *Sealer) Seal(dst []byte, p Position, machine []byte) []byte {
	return s.seal(dst, keys.NewNonce(), p, machine)
}

func (s *Sealer) seal(dst []byte, n keys.Nonce, p Position, machine []byte) []byte {
	if !s.fits(len(machine)) {
		panic(fmt.Sprintf("BUG: state: machine state has %d bytes after one of %d", len(machine), s.machine))
	}
	s.machine = len(machine)
	if p.Owes && p.Step > 0 {
		panic(fmt.Sprintf("BUG: state: a state of step %d owes its first decisions", p.Step))
	}
	start := len(dst)
	dst = s.appendOwner(dst, frame.KindState)
	dst = append(dst, p.Topic[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(p.Next))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.LeaderEpoch))
	dst = binary.LittleEndian.AppendUint64(dst, p.Step)
	dst = binary.LittleEndian.AppendUint32(dst, p.Semantics)
	owes := byte(0)
	if p.Owes {
		owes = 1
	}
	dst = appendOrdered(append(dst, owes), p.Order)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(machine)))
	return s.close(dst, start, n, machine)
}

// appendOwner appends the first fields of every sealed record of the incarnation.
func (s *Sealer) appendOwner(dst []byte, k frame.Kind) []byte {
	dst = frame.AppendHeader(dst, k)
	dst = append(dst, s.incarnation.ID[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.incarnation.Partition))
	return binary.LittleEndian.AppendUint32(dst, s.incarnation.KeyVersion)
}

// close seals private after the header that starts at dst[start:].
func (s *Sealer) close(dst []byte, start int, n keys.Nonce, private []byte) []byte {
	data := s.associated(dst[start:])
	dst = append(dst, n[:]...)
	dst = s.aead().Seal(dst, n[:], private, data)
	return frame.AppendChecksum(dst, start)
}

// Open returns position and machine state of a value that Seal made for the same incarnation and key version. The
// machine state is a copy. Errors: ErrFormat, ErrCorrupt, ErrForeign; none of them changes the sealer.
func (s *Sealer) Open(value []byte) (Position, []byte, error) {
	r, err := frame.Open(value, frame.KindState)
	if err != nil {
		return Position{}, nil, err
	}
	id, partition, keyVersion := r.Array16(), int32(r.Uint32()), r.Uint32()
	p := Position{
		Topic: r.Array16(), Next: int64(r.Uint64()), LeaderEpoch: int32(r.Uint32()), Step: r.Uint64(), Semantics: r.Uint32(),
	}
	owes := r.Uint8()
	p.Owes, p.Order = owes == 1, readOrdered(&r)
	length, header := r.Uint32(), r.Read()
	n, sealed := r.Bytes(len(keys.Nonce{})), r.Rest()
	impossible := owes > 1 || p.Semantics < 1 || p.Owes && p.Step > 0
	if r.Bad || impossible || uint64(len(sealed)) != uint64(length)+chacha20poly1305.Overhead {
		return Position{}, nil, frame.Malformed(frame.KindState)
	}
	if err := s.incarnation.belongs(frame.KindState, id, partition, keyVersion); err != nil {
		return Position{}, nil, err
	}
	if !s.fits(int(length)) {
		return Position{}, nil, fmt.Errorf("%w: machine state has %d bytes, the last one had %d",
			frame.ErrForeign, length, s.machine)
	}
	machine, err := s.aead().Open(make([]byte, 0, length), n, sealed, s.associated(header))
	if err != nil {
		return Position{}, nil, fmt.Errorf("%w: sealed state fails authentication", frame.ErrCorrupt)
	}
	s.machine = len(machine)
	return p, machine, nil
}

// associated returns header and stream in a buffer that the next call overwrites.
func (s *Sealer) associated(header []byte) []byte {
	s.data = append(s.data[:0], header...)
	s.data = frame.AppendVariable(s.data, s.incarnation.Stream)
	return s.data
}

// Format hides the keys, whatever the verb.
func (*Sealer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, keys.Redacted) }
