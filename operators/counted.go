package operators

import "oriel/mechanisms/steps"

// Counted is a machine whose steps close after B records, null records included: it counts them for callers that play a
// machine without a walk of package streams. Its state is the number of records in the open step, and the machine's
// state.
type Counted struct {
	Machine
	count  steps.Count
	absent bool // a null record is absent
}

// ByCount returns a machine before its first record as a Counted. B is the batch of its guarantee.
func ByCount(m Machine) *Counted {
	return &Counted{Machine: m, count: steps.Count{Batch: m.Guarantee().Batch}}
}

// ByPlaces returns a machine before its first record as a Counted for steps by the clock, which have any number of
// records. A step closes after so many places for records, and a null record says that there is none at its place: the
// machine does not get it.
func ByPlaces(m Machine, places uint64) *Counted {
	return &Counted{Machine: m, count: steps.Count{Batch: places}, absent: true}
}

// Add takes the next record. If it is the last record of its step, Add closes the step and appends its decisions.
func (c *Counted) Add(dst []Decision, r Record) []Decision {
	if !c.absent || !r.Null {
		c.Machine.Add(r)
	}
	if !c.count.Take() {
		return dst
	}
	return c.Machine.Close(dst)
}

// AppendState appends the state.
func (c *Counted) AppendState(dst []byte) []byte {
	return c.Machine.AppendState(c.count.AppendBinary(dst))
}

// AppendPublic appends the part of the state that neighbouring streams share, or returns nil if the machine does not
// provide one.
func (c *Counted) AppendPublic(dst []byte) []byte {
	if shared, ok := c.Machine.(interface{ AppendPublic(dst []byte) []byte }); ok {
		return shared.AppendPublic(c.count.AppendBinary(dst))
	}
	return nil
}

// StateLen returns the length of a state.
func (c *Counted) StateLen() int { return c.Machine.StateLen() + steps.CountLen }

// Restore restores a state that AppendState wrote, or refuses it and leaves the machine unchanged.
func (c *Counted) Restore(state []byte) error {
	count := c.count
	rest, err := count.Cut(state)
	if err != nil {
		return err
	}
	if err := c.Machine.Restore(rest); err != nil {
		return err
	}
	c.count = count
	return nil
}
