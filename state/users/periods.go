package users

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/state"
	"oriel/state/frame"
)

// MaxEvents is the largest number of events, and MaxValues of values, of one user in a period.
const (
	MaxEvents = math.MaxUint16
	MaxValues = math.MaxUint16
)

// BytesPerUser bounds the memory of a user in a period of many users, bytes: 16 · 2 of slots, and 2 · 2 of counts. A
// part in the changelog has 16 bytes for each accepted record. Nothing bounds the number of users, because users would
// share the bound.
//
// BytesPerValue bounds the memory of a value, bytes, in addition to its user's, if a user may have more than one value.
// A part in the changelog has 32 bytes for it.
const (
	BytesPerUser  = 36
	BytesPerValue = 32
)

// Periods decides which records of users are accepted. NewPeriods accepts the first k records of a user in a period, by
// Admit. NewValues accepts the first m different values of a user in a period, each once, by AdmitValue. A value is any
// bytes, for example the number of a cell, or a name. Nothing else of a record matters. When a period ends, Periods
// forget all users. They are not safe for concurrent use.
//
// The state has a constant length. It says how many parts hold the period's ids (state.Segment). An id that was
// accepted twice is in two places of them. If m is above 1, the id of a value follows the id of its user. Before a
// state is appended, the new parts must be taken: Outdated once, then Part until there is no more.
type Periods struct {
	Hasher

	most    uint16 // k or m
	entry   int    // ids of an accepted record in a part: 2 if values are remembered, otherwise 1
	period  uint64
	users   *set // with the number of accepted records of each user, unless k or m is 1
	values  *set // pairs of a user and a value; empty if m is 1
	unsaved []ID // ids of accepted records that no part has, in the order of the records
	saved   Saved
	part    []byte
	warmed  byte // of no meaning; see set.warm
}

// Saved says which parts belong to a state.
type Saved struct {
	Period uint64
	Parts  uint32 // number of parts
	IDs    uint64 // number of ids in these parts
}

// NewPeriods returns Periods that accept the first k events of a user, and know no user. Periods and limiters with the
// same key give a user the same ID.
func NewPeriods(events uint64, key [32]byte) (*Periods, error) {
	return open("events", events, MaxEvents, 1, key)
}

// NewValues returns Periods that accept the first m values of a user, and know no user. If m is 1, they remember no
// values, because after the first record of a user no other is accepted, whatever its value is.
func NewValues(values uint64, key [32]byte) (*Periods, error) {
	return open("values", values, MaxValues, int(min(values, 2)), key)
}

func open(noun string, most, limit uint64, entry int, key [32]byte) (*Periods, error) {
	if most < 1 || most > limit {
		return nil, fmt.Errorf("users: %d %s of a user in a period: not in [1, %d]", most, noun, limit)
	}
	p := &Periods{most: uint16(most), entry: entry, users: newSet(0, most > 1), values: newSet(0, false)}
	p.rekey(key)
	return p, nil
}

// Begin begins a period, and forgets the users of an earlier one. Periods must not go back.
func (p *Periods) Begin(period uint64) {
	if period < p.period {
		panic(fmt.Sprintf("BUG: users: period %d after period %d", period, p.period))
	}
	if period > p.period {
		p.period, p.unsaved = period, p.unsaved[:0]
		p.users.forget()
		p.values.forget()
	}
}

// Warm prepares for calls of Admit and AdmitValue with these users, which then take less time. It changes nothing.
func (p *Periods) Warm(ids []ID) { p.warmed = p.users.warm(ids) }

// Admit reports whether a record of a user in a period is accepted, and remembers the record if so. It must be called
// with every record that names a user, valid or not, because a content that decided would give away an event.
func (p *Periods) Admit(period uint64, user ID) bool {
	p.Begin(period)
	accepted := p.count(&user)
	if accepted {
		p.unsaved = append(p.unsaved, user)
	}
	return accepted
}

// AdmitValue reports whether the value of a record is new for its user in the period, and among the user's first m
// values, and remembers the value if so. It must be called with every record that has a user and a value, and with no
// other: a record without a value contributes nothing and takes no place.
func (p *Periods) AdmitValue(period uint64, user ID, value []byte) bool {
	p.Begin(period)
	accepted, room := p.find(&user)
	if !room {
		return false
	}
	p.unsaved = append(p.unsaved, user)
	if p.entry == 2 {
		pair := p.pair(user, value)
		if _, added := p.values.add(&pair); !added {
			p.unsaved = p.unsaved[:len(p.unsaved)-1]
			return false
		}
		p.unsaved = append(p.unsaved, pair)
	}
	accept(accepted)
	return true
}

// count counts a record of a user, unless k records are counted.
func (p *Periods) count(id *ID) (counted bool) {
	accepted, room := p.find(id)
	if room {
		accept(accepted)
	}
	return room
}

// find returns the number of accepted records of a user, or nil if k or m is 1, and whether another record of the user
// may be accepted. A user who is new must then be accepted.
func (p *Periods) find(id *ID) (accepted *uint16, room bool) {
	accepted, added := p.users.add(id)
	if accepted == nil {
		return nil, added
	}
	return accepted, *accepted < p.most
}

// accept counts an accepted record.
func accept(accepted *uint16) {
	if accepted != nil {
		*accepted++
	}
}

// Outdated returns the parts of an earlier period that the next state does not need, or none. They are needed until
// there are new ones: so the transaction that decides the last step of a period does not have to delete them.
func (p *Periods) Outdated() (outdated Saved) {
	if p.saved.Period != p.period && len(p.unsaved) > 0 {
		outdated, p.saved = p.saved, Saved{Period: p.period}
	}
	return outdated
}

// Part returns the next part that the next state needs in addition to those before it, if there is one. Its ids are
// valid until the next call.
func (p *Periods) Part() (part state.Segment, is bool) {
	n := min(len(p.unsaved), MaxPartIDs/p.entry*p.entry)
	if n == 0 {
		return part, false
	}
	p.part = p.part[:0]
	for i := range p.unsaved[:n] {
		p.part = append(p.part, p.unsaved[i][:]...)
	}
	part = state.Segment{Kind: frame.KindUsers, Span: p.saved.Period, Number: p.saved.Parts, Payload: p.part}
	p.unsaved = append(p.unsaved[:0], p.unsaved[n:]...)
	p.saved.Parts++
	p.saved.IDs += uint64(n)
	return part, true
}

// Bytes returns the memory that the users take, bytes. It is private, because it shows how many users were active.
func (p *Periods) Bytes() int { return p.users.bytes() + p.values.bytes() }

// Saved returns the parts that belong to the state.
func (p *Periods) Saved() Saved { return p.saved }

// A state is, little-endian: version u8, key 32 bytes, period u64, number of parts u32, number of ids u64.
const (
	periodsVersion = 1
	periodsLen     = 1 + 32 + 8 + 4 + 8
)

// StateLen returns the length of every state.
func (p *Periods) StateLen() int { return periodsLen }

// AppendState appends the state. It is private, because it shows how many users were active.
func (p *Periods) AppendState(dst []byte) []byte {
	if len(p.unsaved) > 0 {
		panic(fmt.Sprintf("BUG: users: %d ids of period %d are in no part", len(p.unsaved), p.period))
	}
	dst = append(append(dst, periodsVersion), p.key[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, p.saved.Period)
	dst = binary.LittleEndian.AppendUint32(dst, p.saved.Parts)
	return binary.LittleEndian.AppendUint64(dst, p.saved.IDs)
}

// Restore restores a state that AppendState wrote, including its key. The parts that Saved names must follow with Take.
// After an error the Periods are unchanged.
func (p *Periods) Restore(b []byte) error {
	if len(b) != periodsLen {
		return fmt.Errorf("users: state: %d bytes, want %d", len(b), periodsLen)
	}
	if b[0] != periodsVersion {
		return fmt.Errorf("users: state: version %d, this software knows %d", b[0], periodsVersion)
	}
	saved := Saved{
		Period: binary.LittleEndian.Uint64(b[33:]),
		Parts:  binary.LittleEndian.Uint32(b[41:]),
		IDs:    binary.LittleEndian.Uint64(b[45:]),
	}
	parts, entry := uint64(saved.Parts), uint64(p.entry)
	if saved.IDs < parts*entry || saved.IDs > parts*uint64(MaxPartIDs/p.entry*p.entry) || saved.IDs%entry > 0 {
		return fmt.Errorf("users: state: %d ids in %d parts", saved.IDs, saved.Parts)
	}
	accepted := saved.IDs / entry
	*p = Periods{
		most: p.most, entry: p.entry, period: saved.Period, saved: saved,
		users: newSet(accepted/uint64(p.most), p.most > 1), values: newSet(accepted*(entry-1), false),
	}
	p.rekey([32]byte(b[1:]))
	return nil
}

// Take adds the parts that belong to a restored state. next is called with the numbers from 0 on. After an error the
// Periods must not be used.
func (p *Periods) Take(next func(number uint32) (state.Segment, error)) error {
	ids := uint64(0)
	for number := range p.saved.Parts {
		part, err := next(number)
		if err != nil {
			return err
		}
		if part.Span != p.saved.Period || part.Number != number {
			return fmt.Errorf("users: part %d of period %d in the place of part %d of period %d",
				part.Number, part.Span, number, p.saved.Period)
		}
		if len(part.Payload)%(p.entry*IDSize) > 0 {
			return fmt.Errorf("users: part %d of period %d ends with a user without a value", number, part.Span)
		}
		all := p.unsaved[:0] // which is empty, and has room
		for id := range slices.Chunk(part.Payload, IDSize) {
			all = append(all, ID(id))
		}
		p.unsaved = all[:0]
		for i := 0; i < len(all); i += p.entry {
			if i%64 == 0 {
				p.Warm(all[i:min(i+64, len(all))])
			}
			user, pair := &all[i], &all[i+p.entry-1]
			switch {
			case *user == (ID{}) || *pair == (ID{}):
				return fmt.Errorf("users: part %d of period %d has an id of zeros", number, part.Span)
			case !p.count(user):
				return fmt.Errorf("users: part %d of period %d has an id more than %d times", number, part.Span, p.most)
			}
			if p.entry == 2 {
				if _, added := p.values.add(pair); !added {
					return fmt.Errorf("users: part %d of period %d has a value of a user twice", number, part.Span)
				}
			}
		}
		ids += uint64(len(all))
	}
	if ids != p.saved.IDs {
		return errors.New("users: the parts of a period have another number of ids than the state says")
	}
	return nil
}
