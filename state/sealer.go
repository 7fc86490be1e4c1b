package state

import (
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

// Position is the position of a sealed state in its input. It is public: stored in clear, and authenticated.
type Position struct {
	Topic       [16]byte // UUID of the topic whose offsets Next counts
	Next        int64    // next offset to process, of the input partition, or of the merged log of a whole topic
	LeaderEpoch int32    // leader epoch of the last processed record, −1 before any; always −1 for a whole topic
	Step        uint64   // number of closed steps
	Semantics   uint32   // semantics version that computed the state; 0 is written as 1

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
//	‖ step u64 ‖ [semantics u32] ‖ [owes u8 ‖ order] ‖ length of the machine state u32
//	‖ nonce 24 ‖ machine state, encrypted ‖ tag 16 ‖ CRC-32C u32
//
// The semantics are in formats 2 to 4. A state of format 1 has semantics 1; a state of semantics 1 has format 1, unless
// it owes its first decisions. A state of format 3 owes them. A state of format 4 is of a whole topic. It has a byte
// that is 1 if the state owes its first decisions, and the order position as appendOrdered writes it.
//
// Encryption is XChaCha20-Poly1305 under the seal key with a random nonce. The associated data are everything before
// the nonce, then the stream's name after its length. Nothing is compressed, because a compressed length depends on the
// content.
type Sealer struct {
	incarnation *Incarnation       // without params, configuration, order and seal key
	aead        func() cipher.AEAD // a function, so that fmt cannot print the key; see MasterKey
	machine     int                // length of a machine state; −1 before the first state
	data        []byte
}

// sealedHeader is the number of bytes before the nonce in format 1; formats 2 to 4 add semanticsSize.
const (
	sealedHeader  = 2 + 16 + 4 + 4 + 16 + 8 + 4 + 8 + 4
	semanticsSize = 4
)

// sealedOverhead is the length of a sealed state minus the length of its machine state.
const sealedOverhead = sealedHeader + len(nonce{}) + chacha20poly1305.Overhead + checksumSize

// Sealer returns the sealer of i. The seal key must be set: a zero key is refused, because it was never unwrapped.
func (i Incarnation) Sealer() (*Sealer, error) {
	if i.SealKey == (Secret{}) {
		return nil, fmt.Errorf("%w: incarnation without a seal key", ErrWrongKey)
	}
	aead, err := chacha20poly1305.NewX(i.SealKey[:])
	if err != nil {
		panic("BUG: state: seal key of a wrong length")
	}
	i.SealKey, i.Config, i.Params, i.Order = Secret{}, "", nil, nil
	return &Sealer{incarnation: &i, aead: func() cipher.AEAD { return aead }, machine: -1}, nil
}

// Width returns the length of every sealed state of this sealer in format 1, or 0 before the first Seal or Open.
func (s *Sealer) Width() int {
	if s.machine < 0 {
		return 0
	}
	return s.machine + sealedOverhead
}

// Seal appends the sealed state to dst and returns it. The first machine state that the sealer gets, sealed or opened,
// fixes the length. Seal panics on any other length, because the width of the record would reveal the change. dst and
// machine must not overlap.
func (s *Sealer) Seal(dst []byte, p Position, machine []byte) []byte {
	return s.seal(dst, newNonce(), p, machine)
}

func (s *Sealer) seal(dst []byte, n nonce, p Position, machine []byte) []byte {
	if s.machine < 0 {
		s.machine = len(machine)
	}
	if len(machine) != s.machine {
		panic(fmt.Sprintf("BUG: state: machine state has %d bytes, want %d", len(machine), s.machine))
	}
	start := len(dst)
	dst = s.appendOwner(dst, KindState)
	dst = append(dst, p.Topic[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(p.Next))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(p.LeaderEpoch))
	dst = binary.LittleEndian.AppendUint64(dst, p.Step)
	switch {
	case p.Owes && p.Step > 0:
		panic(fmt.Sprintf("BUG: state: a state of step %d owes its first decisions", p.Step))
	case p.Order != nil:
		dst[start] = format4
	case p.Owes:
		dst[start] = format3
	case p.Semantics > 1:
		dst[start] = format2
	}
	if dst[start] > format1 {
		dst = binary.LittleEndian.AppendUint32(dst, max(1, p.Semantics))
	}
	if p.Order != nil {
		owes := byte(0)
		if p.Owes {
			owes = 1
		}
		dst = appendOrdered(append(dst, owes), p.Order)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(machine)))
	return s.close(dst, start, n, machine)
}

// appendOwner appends the first fields of every sealed record of the incarnation.
func (s *Sealer) appendOwner(dst []byte, k Kind) []byte {
	dst = appendHeader(dst, k)
	dst = append(dst, s.incarnation.ID[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.incarnation.Partition))
	return binary.LittleEndian.AppendUint32(dst, s.incarnation.KeyVersion)
}

// close seals private after the header that starts at dst[start:].
func (s *Sealer) close(dst []byte, start int, n nonce, private []byte) []byte {
	data := s.associated(dst[start:])
	dst = append(dst, n[:]...)
	dst = s.aead().Seal(dst, n[:], private, data)
	return appendChecksum(dst, start)
}

// Open returns position and machine state of a value that Seal made for the same incarnation and key version. The
// machine state is a copy. Errors: ErrFormat, ErrCorrupt, ErrForeign; none of them changes the sealer.
func (s *Sealer) Open(value []byte) (Position, []byte, error) {
	r, err := unframe(value, KindState)
	if err != nil {
		return Position{}, nil, err
	}
	id, partition, keyVersion := r.array16(), int32(r.uint32()), r.uint32()
	p := Position{
		Topic: r.array16(), Next: int64(r.uint64()), LeaderEpoch: int32(r.uint32()), Step: r.uint64(), Semantics: 1,
	}
	if r.format > format1 {
		p.Semantics = r.uint32()
	}
	p.Owes = r.format == format3
	if r.format == format4 {
		owes := r.uint8()
		p.Owes, p.Order = owes == 1, r.ordered()
		r.bad = r.bad || owes > 1 || p.Semantics < 1
	}
	length, header := r.uint32(), value[:r.at]
	n, sealed := r.bytes(len(nonce{})), r.rest()
	impossible := r.format == format2 && p.Semantics < 2 || p.Owes && (p.Semantics < 1 || p.Step > 0)
	if r.bad || impossible || uint64(len(sealed)) != uint64(length)+chacha20poly1305.Overhead {
		return Position{}, nil, malformed(KindState)
	}
	if err := s.incarnation.belongs(KindState, id, partition, keyVersion); err != nil {
		return Position{}, nil, err
	}
	if s.machine >= 0 && int(length) != s.machine {
		return Position{}, nil, fmt.Errorf("%w: machine state has %d bytes, want %d", ErrForeign, length, s.machine)
	}
	machine, err := s.aead().Open(make([]byte, 0, length), n, sealed, s.associated(header))
	if err != nil {
		return Position{}, nil, fmt.Errorf("%w: sealed state fails authentication", ErrCorrupt)
	}
	s.machine = len(machine)
	return p, machine, nil
}

// associated returns header and stream in a buffer that the next call overwrites.
func (s *Sealer) associated(header []byte) []byte {
	s.data = append(s.data[:0], header...)
	s.data = appendVariable(s.data, s.incarnation.Stream)
	return s.data
}

// Format hides the keys, whatever the verb.
func (*Sealer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }
