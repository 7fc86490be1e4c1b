package steps

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Count is the number of records in an open step of B records.
type Count struct {
	Batch   uint64 // B; 0 if steps end by the clock, so that no record is the last one of its step
	Records uint64 // records of the open step, fewer than B
}

// Take counts a record, and reports whether the record is the last one of its step.
func (c *Count) Take() (last bool) {
	if c.Records++; c.Records != c.Batch {
		return false
	}
	c.Records = 0
	return true
}

// CountLen is the length in bytes of an encoded count.
const CountLen = 8

// AppendBinary appends the number of records, u64 little-endian.
func (c Count) AppendBinary(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(dst, c.Records)
}

// Cut reads the count at the start of a state, and returns the rest. After an error the count is unchanged.
func (c *Count) Cut(state []byte) (rest []byte, err error) {
	if len(state) < CountLen {
		return nil, errors.New("steps: state: shorter than its count of records")
	}
	records := binary.LittleEndian.Uint64(state)
	if records > 0 && records >= c.Batch {
		return nil, errors.New("steps: state: more records in the open step than a step has")
	}
	c.Records = records
	return state[CountLen:], nil
}

// Day is the length of a day in seconds.
const Day int64 = 86_400

// Clock is the rule of steps by the clock. Step k holds the events of the seconds from k·Length + Offset up to
// (k+1)·Length + Offset, without the last one, since the Unix epoch (UTC). So boundaries are the same in every stream,
// and no record decides which step another record is in. The zero value is for steps by count.
type Clock struct {
	Length int64 // seconds: divides a day, or is whole days
	Offset int64 // seconds, from 0, below Length
}

// Counts reports whether steps are by count, so that the clock closes none.
func (c Clock) Counts() bool { return c.Length == 0 }

// Validate checks that days consist of whole steps, or steps of whole days.
func (c Clock) Validate() error {
	switch {
	case c.Counts() && c.Offset == 0:
		return nil
	case c.Length < 1 || c.Length > math.MaxInt32:
		return fmt.Errorf("steps: a step of %d s: not in [1 s, 68 years]", c.Length)
	case Day%c.Length != 0 && c.Length%Day != 0:
		return fmt.Errorf("steps: a step of %d s: neither a part of a day that divides it, nor whole days", c.Length)
	case c.Offset < 0 || c.Offset >= c.Length:
		return fmt.Errorf("steps: an offset of %d s: not in [0 s, %d s), a step", c.Offset, c.Length)
	}
	return nil
}

// Of returns the step of a second since the Unix epoch. Step 0 also has the seconds before it.
func (c Clock) Of(second int64) uint64 { return uint64(max(second-c.Offset, 0) / c.Length) }

// Begin returns the first second of a step.
func (c Clock) Begin(step uint64) int64 { return int64(step)*c.Length + c.Offset }

// End returns the first second after a step.
func (c Clock) End(step uint64) int64 { return c.Begin(step + 1) }
