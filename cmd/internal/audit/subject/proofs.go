package subject

import (
	"errors"
	"reflect"
	"slices"
	"sync"

	"oriel/mechanisms"
)

// proofs opens streams as mechanisms.Open does, but verifies each configuration and calibration only once. An audit
// opens a machine some dozen times, and verifying a long window takes seconds.
type proofs struct {
	mutex  sync.Mutex
	proved []proved
}

type proved struct {
	config      mechanisms.Config
	calibration mechanisms.Calibration
	mechanism   *mechanisms.Mechanism
}

// open opens a stream that shares no writable data with another.
func (x *proofs) open(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	for _, y := range x.proved {
		if reflect.DeepEqual(y.config, c) && reflect.DeepEqual(y.calibration, p) {
			return y.mechanism.Clone().Open(key), nil
		}
	}
	mechanism, err := mechanisms.NewMechanism(c, p)
	if err != nil {
		return nil, err
	}
	x.proved = append(x.proved, proved{c, p, mechanism})
	return mechanism.Clone().Open(key), nil
}

// Check is the result of an exact check, or of a bound from runs: it holds, or it is refuted.
type Check struct {
	Name   string `json:"check"`
	Looked string `json:"looked_at"`
	Count  uint64 `json:"count"` // number of compared items
	Found  string `json:"found"`
	Holds  bool   `json:"holds"`
	Bound  bool   `json:"bound,omitempty"` // at the confidence of an attack, not exact
}

// RefutedBy returns the check as refuted if err is one of the faults. Otherwise it returns the check and err.
func (c Check) RefutedBy(err error, faults ...error) (Check, error) {
	if slices.ContainsFunc(faults, func(fault error) bool { return errors.Is(err, fault) }) {
		c.Holds, c.Found = false, err.Error()
		return c, nil
	}
	return c, err
}
