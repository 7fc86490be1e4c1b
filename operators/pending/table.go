package pending

import (
	"errors"
	"fmt"
)

// Row is a row that Take or Expired returns. Its slices belong to the table and are valid until the next call.
type Row struct {
	Name   []byte
	Step   uint64    // step at which the row was put
	Values []float64 // the numbers of the row, Width of them
}

// Status is the result of a call.
type Status uint8

// These are the statuses.
const (
	Done    Status = iota + 1 // Put has stored the row, or Take has returned it
	Again                     // Put: a row of this name has not timed out; Take: the row was already taken
	Late                      // Take: the row has timed out
	Foreign                   // Take: the table has no row of this name
	Full                      // Put: all places hold rows that have not timed out, or that Expired has not returned yet
	Unnamed                   // Put: the name is empty or longer than Config.Name
)

// Table holds waiting rows. It is not safe for concurrent use.
type Table struct {
	config  Config
	put     uint64 // number of rows ever put; the n-th is in place n mod Capacity
	gone    uint64 // number of the oldest rows that have timed out and hold no place
	steps   []uint64
	marks   []mark
	names   []byte // Name bytes for each place, padded with zeros
	lengths []uint8
	values  []float64

	index, spare index
	row          Row // the row that was returned last; its slices are reused
}

// mark is the status of a place.
type mark uint8

const (
	empty   mark = iota
	waiting      // waiting means that values holds the row's numbers; with other marks they are zero
	taken
	expired
)

// New returns an empty table.
func New(c Config) (*Table, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Table{
		config: c, steps: make([]uint64, c.Capacity), marks: make([]mark, c.Capacity),
		names:   make([]byte, c.Capacity*c.Name),
		lengths: make([]uint8, c.Capacity),
		values:  make([]float64, c.Capacity*c.Width),
		index:   newIndex(c.Capacity),
		spare:   newIndex(c.Capacity),
		row:     Row{Name: make([]byte, 0, c.Name), Values: make([]float64, c.Width)},
	}, nil
}

// Put stores a row that waits under a name from the given step on. The step must not be lower than in the call before.
// The table copies name and values.
func (t *Table) Put(name []byte, step uint64, values []float64) Status {
	switch {
	case len(values) != t.config.Width:
		panic("BUG: pending: a row has another width")
	case t.put > 0 && step < t.steps[t.place(t.put-1)]:
		panic("BUG: pending: steps go back")
	case len(name) == 0 || len(name) > t.config.Name:
		return Unnamed
	}
	t.pass(step)
	if at := t.find(name); at != none && !t.timedOut(at, step) {
		return Again
	}
	if t.put-t.gone == uint64(t.config.Capacity) {
		return Full
	}
	at := t.place(t.put)
	if t.marks[at] != empty {
		t.index.remove(t.nameAt(at), at)
	}
	n := t.config.Name
	stored := t.names[at*n : (at+1)*n]
	clear(stored[copy(stored, name):])
	t.steps[at], t.marks[at], t.lengths[at] = step, waiting, uint8(len(name))
	copy(t.valuesAt(at), values)
	t.index.add(name, at)
	t.put++
	return Done
}

// Take returns the row that waits under a name, with status Done. With any other status it returns no row.
func (t *Table) Take(name []byte, step uint64) (Row, Status) {
	at := t.find(name)
	switch {
	case at == none:
		return Row{}, Foreign
	case t.marks[at] == taken:
		return Row{}, Again
	case t.timedOut(at, step):
		return Row{}, Late
	}
	return t.give(at, taken), Done
}

// Expired returns the oldest row that has timed out at a step and was never taken, or false if there is none.
func (t *Table) Expired(step uint64) (Row, bool) {
	t.pass(step)
	if t.gone == t.put || !t.timedOut(t.place(t.gone), step) {
		return Row{}, false
	}
	t.gone++
	return t.give(t.place(t.gone-1), expired), true
}

// Newest returns the step of the last Put that stored a row, or false if there was none.
func (t *Table) Newest() (step uint64, some bool) {
	if t.put == 0 {
		return 0, false
	}
	return t.steps[t.place(t.put-1)], true
}

// pass frees the places of the oldest rows that were taken and have timed out.
func (t *Table) pass(step uint64) {
	for t.gone < t.put && t.marks[t.place(t.gone)] == taken && t.timedOut(t.place(t.gone), step) {
		t.gone++
	}
}

// give returns the row of a place and sets the mark of the place.
func (t *Table) give(at int, m mark) Row {
	t.row.Step, t.row.Name = t.steps[at], append(t.row.Name[:0], t.nameAt(at)...)
	copy(t.row.Values, t.valuesAt(at))
	clear(t.valuesAt(at))
	t.marks[at] = m
	return t.row
}

// timedOut reports whether the row in a place has timed out. The comparison cannot overflow.
func (t *Table) timedOut(at int, step uint64) bool {
	return step >= t.steps[at] && step-t.steps[at] >= t.config.Timeout
}

func (t *Table) place(n uint64) int { return int(n % uint64(t.config.Capacity)) }

func (t *Table) nameAt(at int) []byte {
	return t.names[at*t.config.Name:][:t.lengths[at]]
}

func (t *Table) valuesAt(at int) []float64 {
	return t.values[at*t.config.Width : (at+1)*t.config.Width]
}

// find returns the place of the newest row of a name, or none.
func (t *Table) find(name []byte) int {
	for at := t.index.first(name); at != none; at = t.index.after(at) {
		if string(t.nameAt(at)) == string(name) {
			return at
		}
	}
	return none
}

const (
	// MaxName is the largest Config.Name, because one byte of the state holds the length of a name.
	MaxName = 255
	// MaxState bounds the length of a state in bytes, because the state is sealed and stored completely with every
	// commit.
	MaxState = 64 << 20

	headLen = 8 + 8     // numbers of rows put and gone
	metaLen = 8 + 1 + 1 // step, mark, and length of the name
)

// Config holds the public settings, which are constant during the life of a deployment.
type Config struct {
	Capacity int    // number of rows, ≥ 1. Required.
	Width    int    // numbers in a row, ≥ 0; a row of width 0 has only its name and step
	Name     int    // largest length of a name in bytes, 1 to MaxName. Required.
	Timeout  uint64 // steps, ≥ 1: a row that was put at step t times out at step t+Timeout. Required.
}

// Validate reports every problem at once.
func (c Config) Validate() error {
	var errs []error
	if c.Capacity < 1 || c.Capacity > MaxState {
		errs = append(errs, fmt.Errorf("pending: capacity %d: not from 1 to %d", c.Capacity, MaxState))
	}
	if c.Width < 0 || c.Width > MaxState {
		errs = append(errs, fmt.Errorf("pending: width %d: not from 0 to %d", c.Width, MaxState))
	}
	if c.Name < 1 || c.Name > MaxName {
		errs = append(errs, fmt.Errorf("pending: name %d: not from 1 to %d", c.Name, MaxName))
	}
	if c.Timeout < 1 {
		errs = append(errs, errors.New("pending: timeout 0: not positive"))
	}
	if len(errs) == 0 && c.StateLen() > MaxState {
		errs = append(errs, fmt.Errorf("pending: capacity %d, width %d, name %d: a state is longer than %d bytes", c.Capacity,
			c.Width, c.Name, MaxState))
	}
	return errors.Join(errs...)
}

// StateLen returns the length in bytes of every state of a valid configuration.
func (c Config) StateLen() int { return headLen + c.Capacity*c.rowLen() }

func (c Config) rowLen() int { return metaLen + c.Name + 8*c.Width }
