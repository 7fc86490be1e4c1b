package protection

import (
	"errors"
	"fmt"

	"oriel/mechanisms/dp"
)

// UserPeriod is the unit of all events of one user in one period: present in one stream, and absent in the other.
// Periods follow one another without gaps from step 0 on, each of PeriodSteps steps.
//
// Either Events or Values is set. In both cases the step of a record must not depend on other records, and a record
// without a readable id contributes nothing.
//
// With Events the caller must accept the first Events records with the user's id in a period, in the order of the
// stream, whether or not they are valid events. All other records with the id contribute nothing. Noise is for the
// distance k·Δ, because all k = Events events may fall into one step (PROOF.md, Theorem 12).
//
// With Values each record that contributes has a value, and contributions of different values have no coordinate in
// common. Of the values of a user in a period the caller must accept the first Values different ones, each once. Noise
// is for the distance m·Δ in the ℓ1 norm and √m·Δ in the ℓ2 norm, m = Values (PROOF.md, Theorem 15).
type UserPeriod struct {
	PeriodSteps uint64 // P, steps, 1 to MaxAmong
	Events      uint64 // k, records of a user that count in a period, 1 to MaxAmong; 0 with Values
	Values      uint64 // m, different values of a user that count in a period, 1 to MaxAmong; 0 with Events
}

func (UserPeriod) Name() string            { return "user-period" }
func (UserPeriod) Adjacency() dp.Adjacency { return dp.AddRemove }
func (UserPeriod) AgainstNull() bool       { return true }

// EventSeparation returns 0, because the events of a period may all be in one step.
func (UserPeriod) EventSeparation() (separation uint64, several bool) { return 0, true }

func (u UserPeriod) StepEvents() uint64         { return u.Events + u.Values }
func (u UserPeriod) Apart() bool                { return u.Values > 0 }
func (u UserPeriod) ExchangeSteps(Scope) uint64 { return u.PeriodSteps }

func (u UserPeriod) Figures() UnitFigures {
	return UnitFigures{Period: u.PeriodSteps, Events: u.Events, Values: u.Values}
}

// Validate checks the numbers, and refuses every scope except PerStep.
func (u UserPeriod) Validate(s Scope) error {
	errs, counted := []error{presentOrAbsent(u, s)}, "events"
	if u.Apart() {
		counted = "values"
	}
	for _, x := range []struct {
		what  string
		value uint64
	}{{"period", u.PeriodSteps}, {counted, u.StepEvents()}} {
		if x.value < 1 || x.value > MaxAmong {
			errs = append(errs, fmt.Errorf("protection: unit user-period: %s %d: not in [1, 2^40]", x.what, x.value))
		}
	}
	if u.Events > 0 && u.Values > 0 {
		errs = append(errs, fmt.Errorf("protection: unit user-period: %d events and %d values: one of them must be 0", u.Events, u.Values))
	}
	return errors.Join(errs...)
}

// periods returns the largest number of periods that a number of consecutive steps can touch. They need not begin with
// a period: two steps can be in two periods.
func (u UserPeriod) periods(steps uint64) uint64 {
	if steps == 0 {
		return 0
	}
	rest := steps - 1 // after the first step, which may be the last one of its period
	touched := rest / u.PeriodSteps
	if rest%u.PeriodSteps > 0 {
		touched++
	}
	return touched + 1
}
