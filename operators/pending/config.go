package pending

import (
	"errors"
	"fmt"
)

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
