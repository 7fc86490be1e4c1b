package subject

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
)

// Subject is the configured machine. An audit knows its operator only as an operators.ReferenceModel.
//
// An audit covers all components of a contribution together, or one component. To audit one component, mechanism,
// calibration and guarantee are the component's, as if it had a stream of its own. The machine still runs with
// all components.
type Subject struct {
	WholeMechanism   mechanisms.Config
	WholeCalibration mechanisms.Calibration
	First            int                    // index of the first audited component
	Components       []definition.Component // the audited components
	Integers         []float64              // value of one lattice unit by coordinate, loss units
	Mechanism        mechanisms.Config
	// the attacked form, which publishes every decision; in the result of Deployed, equal to DeployedOperator
	Operator         operators.Operator
	DeployedOperator operators.Operator // the operator as the settings configure it
	Calibration      mechanisms.Calibration
	Params           []byte // public parameters of the operator
	Carriers         int    // number of records that carry one event, each in its own step
	Lag              uint64 // number of steps from the last of the carriers to the contribution
	Guarantee        protection.Guarantee
	Users            *streams.Users // user-level privacy; nil: event level
	Events           event.Config
	Secret           [32]byte
	Late             uint64 // number of steps before a run, in which the private sum received nothing
	Repeated         uint64 // largest number of runs that a check replays
	shown            *shown // the scan of ShownSteps, of this operator
	// Stream opens the machine's private sum: with mechanisms.Open or, in tests, with a planted fault. Machine likewise
	// opens the machine of an operator that has a calibration.
	Stream  func(mechanisms.Config, mechanisms.Calibration, [32]byte) (*mechanisms.Stream, error)
	Machine func(operators.Operator, []byte, *mechanisms.Stream) (operators.Machine, error)
}

// New calibrates the machine of the settings. secret is the audit's own key, and seeds all its random draws.
// component is the index of a component of the contribution, or AllComponents.
func New(s settings.Settings, secret [32]byte, component int) (*Subject, error) {
	learner := s.Learner()
	model := s.Model()
	a, err := Of(learner.Mechanism(), learner.Operator(), secret, component)
	if err != nil {
		return nil, err
	}
	a.Users, a.Events = model.Users, model.Events
	return a, nil
}

// Of returns the subject of an operator over a mechanism, at event level and without a decoder of events.
func Of(m mechanisms.Config, c operators.Operator, secret [32]byte, component int) (*Subject, error) {
	var err error
	a := &Subject{
		WholeMechanism: m, First: max(0, component), Operator: operators.EmitAllOf(c), DeployedOperator: c, Secret: secret,
		Stream: new(proofs).open, Machine: operators.Operator.Open, Repeated: mostRepeated, shown: new(shown),
	}
	if a.WholeCalibration, err = mechanisms.Calibrate(m); err != nil {
		return nil, err
	}
	if a.Mechanism, a.Calibration, err = ComponentOf(m, a.WholeCalibration, component); err != nil {
		return nil, err
	}
	a.Components, a.Integers = definition.Components(a.Mechanism, a.Calibration), definition.Integers(a.Mechanism,
		a.Calibration)
	if a.Params, err = a.Operator.Params(m); err != nil {
		return nil, err
	}
	if a.Carriers, a.Lag, err = a.carried(); err != nil {
		return nil, err
	}
	if a.Guarantee, err = a.Calibration.Guarantee(a.Mechanism); err != nil {
		return nil, err
	}
	if math.IsInf(a.Guarantee.Epsilon, 1) {
		return nil, fmt.Errorf("audit: %s proves no finite epsilon at delta %g: the audit has no claim to refute",
			a.Guarantee.Mechanism, a.Guarantee.Delta)
	}
	return a, nil
}

// Deployed returns the subject as the settings configure it. The attacked machine, by contrast, publishes each decision
// and explores along coordinates. For the deployed machine, only the contribution of a stream's first event is known,
// so the result serves only the checks that compare bytes, and Overpaid.
func (a *Subject) Deployed() (*Subject, error) {
	b := *a
	b.Operator, b.shown = a.DeployedOperator, new(shown)
	var err error
	if b.Params, err = b.Operator.Params(a.WholeMechanism); err != nil {
		return nil, err
	}
	b.Carriers, b.Lag, err = b.carried()
	return &b, err
}

// carried returns the number of records that carry an event to the sums, and the number of steps from the last of them
// to the contribution.
func (a *Subject) carried() (records int, lag uint64, err error) {
	reference, err := operators.ReferenceModelOf(a.Operator, a.Params)
	if err != nil {
		return 0, 0, err
	}
	reference.Begin()
	event, _ := reference.Canary(a.Dense(a.Random("direction", 0)), 1)
	all, lag := reference.Records(event)
	return len(all), lag, nil
}

// Earliest returns the first step in which an event's contribution can be added.
func (a *Subject) Earliest() uint64 { return uint64(a.Carriers) + a.Lag }

// Derived returns 32 pseudorandom bytes from the secret, different for each purpose and number.
func (a *Subject) Derived(purpose string, number uint64) [32]byte {
	return sha256.Sum256(fmt.Appendf(a.Secret[:], "oriel audit: %s %d", purpose, number))
}

// Random returns a generator that is seeded from the secret.
func (a *Subject) Random(purpose string, number uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(a.Derived(purpose, number)))
}

// Key returns k₀, the noise key of all machines.
func (a *Subject) Key() [32]byte { return a.Derived("machine", 0) }

// Drawing reports whether exponential-mechanism draws are the only releases. Such a subject has no noise to rebuild and
// no sum to attack; the audit computes exactly how an exchange changes the distribution of every draw.
func (a *Subject) Drawing() bool {
	facts, _ := mechanisms.FactsOf(a.Mechanism.Name)
	return !facts.ReleasesSums()
}
