package actions

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// MaxState bounds the length of a state in bytes, because the state is sealed and stored completely with every commit.
const MaxState = 64 << 20

// Config holds the public settings, which are constant during the life of a deployment.
type Config struct {
	Records int    // records of a step, and the largest number of answers of a round, ≥ 1
	Actions int    // actions of a round, ≥ Records
	Delay   uint64 // steps for which a round is open before it is settled
}

// Learned describes in words when the machine learns from the answers to the actions of a round.
func (c Config) Learned() string {
	if c.Delay == 0 {
		return "each learned from 1 step after it"
	}
	return fmt.Sprintf("each learned from %d steps after it", c.Delay+1)
}

// Validate reports every problem at once.
func (c Config) Validate() error {
	var errs []error
	if c.Records < 1 || c.Records > MaxState {
		errs = append(errs, fmt.Errorf("plays: %d records a step: not from 1 to %d", c.Records, MaxState))
	}
	if c.Actions < c.Records || c.Actions > MaxState {
		errs = append(errs, fmt.Errorf("plays: %d plays a round: not from the %d records of a step to %d",
			c.Actions, c.Records, MaxState))
	}
	if c.Delay > MaxState {
		errs = append(errs, fmt.Errorf("plays: delay %d: above %d steps", c.Delay, MaxState))
	}
	if len(errs) == 0 {
		if high, low := bits.Mul64(c.Delay+1, uint64(c.roundLen())); high > 0 || low > MaxState {
			errs = append(errs, fmt.Errorf("plays: delay %d, %d plays, %d records: a state is longer than %d bytes",
				c.Delay, c.Actions, c.Records, MaxState))
		}
	}
	return errors.Join(errs...)
}

// RoundOf returns the round of an action.
func (c Config) RoundOf(play uint64) uint64 { return (play-1)/uint64(c.Actions) + 1 }

// First returns the first action of a round, from 1; the others follow it.
func (c Config) First(round uint64) uint64 { return (round-1)*uint64(c.Actions) + 1 }

// Rounds returns the number of rounds in a table: the open ones, and the one being settled.
func (c Config) Rounds() int { return int(c.Delay) + 1 }

// Feedback is an action's feedback.
type Feedback struct {
	Action uint64
	Value  float64 // NaN: the record has no value
}

// Table records which actions are answered, and holds the answers until they are added.
type Table struct {
	config  Config
	step    uint64 // number of the open step, from 1
	added   int    // answers of the settling round that records of the open step have added; with Delay 0 always 0
	current int    // with Delay 0: place of the latest record's answer in its round, −1 for none
	rounds  []round
}

// round holds the answers of a round in order of arrival.
type round struct {
	used    []uint64 // bit i is set when action i of the round is answered
	count   int
	actions []uint32 // place of each answered action in the round, in order of arrival
	values  []float64
}

// New returns a table before the first record.
func New(c Config) (*Table, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t := &Table{config: c, step: 1, current: -1, rounds: make([]round, c.Rounds())}
	for i := range t.rounds {
		t.rounds[i] = round{
			used: make([]uint64, (c.Actions+63)/64), actions: make([]uint32, c.Records), values: make([]float64, c.Records),
		}
	}
	return t, nil
}

func (t *Table) at(n uint64) *round { return &t.rounds[n%uint64(len(t.rounds))] }

// Observe takes the next record of the open step: its key, and its value, NaN if it has none. It reports whether the
// record answers an action.
func (t *Table) Observe(key []byte, value float64) bool {
	t.current = -1
	play, ok := number(key)
	if !ok {
		return false
	}
	n := t.config.RoundOf(play)
	if n > t.step || t.step-n >= max(1, t.config.Delay) {
		return false
	}
	r, place := t.at(n), (play-1)%uint64(t.config.Actions)
	word, bit := &r.used[place/64], uint64(1)<<(place%64)
	if *word&bit != 0 || r.count == t.config.Records {
		return false
	}
	*word |= bit
	if math.IsNaN(value) {
		value = math.NaN() // all NaNs get the same bits, because states are compared as bytes
	}
	r.actions[r.count], r.values[r.count] = uint32(place), value
	if t.config.Delay == 0 {
		t.current = r.count
	}
	r.count++
	return true
}

// Next takes the answer that the latest record adds to the private sum. It may be the answer of an earlier record,
// because answers wait until their round is settled: then each record of the step adds one, in order of arrival. Next
// returns false if the record adds nothing.
func (t *Table) Next() (Feedback, bool) {
	n, k := t.settling(), t.added
	if t.config.Delay == 0 {
		k = t.current
	}
	if n == 0 || k < 0 || k >= t.at(n).count {
		return Feedback{}, false
	}
	r := t.at(n)
	if t.config.Delay > 0 {
		t.added++
	}
	return Feedback{Action: t.config.First(n) + uint64(r.actions[k]), Value: r.values[k]}, true
}

// settling returns the round whose answers the open step adds, or 0 if there is none yet.
func (t *Table) settling() uint64 { return t.step - min(t.step, t.config.Delay) }

// Settled returns the round whose answers were added in the step that has just closed, and the number of these answers.
// In the first Delay steps it returns round 0 and no answers. The result is valid until Settle.
func (t *Table) Settled() (n uint64, answers int) {
	if n = t.settling(); n == 0 {
		return 0, 0
	}
	return n, t.at(n).count
}

// Settle ends the step: it drops the step's settled round, and opens another one. The step must have had at least as
// many records as a round has answers.
func (t *Table) Settle() {
	if n := t.settling(); n > 0 {
		r := t.at(n)
		if t.config.Delay > 0 && t.added != r.count {
			panic("BUG: plays: a step ends before the answers of its round are added")
		}
		clear(r.used)
		clear(r.actions)
		clear(r.values)
		r.count = 0
	}
	t.step, t.added, t.current = t.step+1, 0, -1
}

// Step returns the open step, from 1, which is also the number of the latest round.
func (t *Table) Step() uint64 { return t.step }

// number parses the name of an action: a number from 1 on, in decimals, without leading zeros or other characters.
func number(key []byte) (uint64, bool) {
	const longest = 19 // digits of the largest number that is surely below 2⁶⁴
	if len(key) == 0 || len(key) > longest || key[0] == '0' {
		return 0, false
	}
	n := uint64(0)
	for _, c := range key {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, true
}

// Usable reports whether an answer has a value. A record with a malformed body, or one that is not accepted, uses its
// action up without a value.
func (a Feedback) Usable() bool { return !math.IsNaN(a.Value) }
