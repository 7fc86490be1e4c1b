package auditor

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
)

// Subject is the configured machine. An audit knows its operator only as an operators.ReferenceModel.
//
// An audit covers all components of a contribution together, or one component. To audit one component, mechanism,
// calibration and guarantee are those of the component, as if it had a stream of its own. The machine still runs with
// all components.
type Subject struct {
	wholeMechanism   mechanisms.Config
	wholeCalibration mechanisms.Calibration
	first            int                    // index of the first audited component
	components       []definition.Component // the audited components
	integers         []float64              // value of one lattice unit by coordinate, loss units
	mechanism        mechanisms.Config
	// attacked form, which publishes every decision; in the result of deployed, equal to deployedOperator
	operator         operators.Operator
	deployedOperator operators.Operator // the operator as the settings configure it
	calibration      mechanisms.Calibration
	public           []byte // public parameters of the operator
	carriers         int    // number of records that carry one event, each in its own step
	lag              uint64 // number of steps from the last of the carriers to the contribution
	guarantee        protection.Guarantee
	users            *streams.Users // user-level privacy; nil: event level
	events           event.Config
	secret           [32]byte
	late             uint64 // number of steps before a run, in which the private sum received nothing
	repeated         uint64 // largest number of runs that a check replays
	shown            *shown // the scan of shownSteps, of this operator
	// stream opens the machine's private sum: with mechanisms.Open or, in tests, with a planted fault. machine likewise
	// opens the machine of an operator that has a calibration.
	stream  func(mechanisms.Config, mechanisms.Calibration, [32]byte) (*mechanisms.Stream, error)
	machine func(operators.Operator, []byte, *mechanisms.Stream) (operators.Machine, error)
}

// NewSubject calibrates the machine of the settings. secret is the audit's own key, and seeds all its random draws.
// component is the index of a component of the contribution, or AllComponents.
func NewSubject(s settings.Settings, secret [32]byte, component int) (*Subject, error) {
	learner := s.Learner()
	model := s.Model()
	a, err := newSubject(learner.Mechanism(), learner.Operator(), secret, component)
	if err != nil {
		return nil, err
	}
	a.users, a.events = model.Users, model.Events
	return a, nil
}

// openMachine opens the machine of an operator.
func openMachine(c operators.Operator, params []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	return c.Open(params, sums)
}

func newSubject(m mechanisms.Config, c operators.Operator, secret [32]byte, component int) (*Subject, error) {
	var err error
	a := &Subject{
		wholeMechanism: m, first: max(0, component), operator: operators.EmitAllOf(c), deployedOperator: c, secret: secret,
		stream: new(proofs).open, machine: openMachine, repeated: mostRepeated, shown: new(shown),
	}
	if a.wholeCalibration, err = mechanisms.Calibrate(m); err != nil {
		return nil, err
	}
	if a.mechanism, a.calibration, err = componentOf(m, a.wholeCalibration, component); err != nil {
		return nil, err
	}
	a.components, a.integers = definition.Components(a.mechanism, a.calibration), definition.Integers(a.mechanism,
		a.calibration)
	if a.public, err = a.operator.Params(m); err != nil {
		return nil, err
	}
	if a.carriers, a.lag, err = a.carried(); err != nil {
		return nil, err
	}
	if a.guarantee, err = a.calibration.Guarantee(a.mechanism); err != nil {
		return nil, err
	}
	if math.IsInf(a.guarantee.Epsilon, 1) {
		return nil, fmt.Errorf("audit: %s proves no finite epsilon at delta %g: the audit has no claim to refute",
			a.guarantee.Mechanism, a.guarantee.Delta)
	}
	return a, nil
}

// deployed returns the subject as the settings configure it. The attacked machine, by contrast, publishes each decision
// and explores along coordinates. For the deployed machine, only the contribution of a stream's first event is known,
// so the result serves only the checks that compare bytes, and Overpaid.
func (a *Subject) deployed() (*Subject, error) {
	b := *a
	b.operator, b.shown = a.deployedOperator, new(shown)
	var err error
	if b.public, err = b.operator.Params(a.wholeMechanism); err != nil {
		return nil, err
	}
	b.carriers, b.lag, err = b.carried()
	return &b, err
}

// carried returns the number of records that carry an event to the sums, and the number of steps from the last of them
// to the contribution.
func (a *Subject) carried() (records int, lag uint64, err error) {
	reference, err := operators.ReferenceModelOf(a.operator, a.public)
	if err != nil {
		return 0, 0, err
	}
	reference.Begin()
	event, _ := reference.Canary(a.dense(a.random("direction", 0)), 1)
	all, lag := reference.Records(event)
	return len(all), lag, nil
}

// earliest returns the first step in which an event's contribution can be added.
func (a *Subject) earliest() uint64 { return uint64(a.carriers) + a.lag }

// derived returns 32 pseudorandom bytes from the secret, different for each purpose and number.
func (a *Subject) derived(purpose string, number uint64) [32]byte {
	return sha256.Sum256(fmt.Appendf(a.secret[:], "oriel audit: %s %d", purpose, number))
}

// random returns a generator that is seeded from the secret.
func (a *Subject) random(purpose string, number uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(a.derived(purpose, number)))
}

// key returns k₀, the noise key of all machines.
func (a *Subject) key() [32]byte { return a.derived("machine", 0) }

// contribution writes the contribution that a record should add to the audited components, loss units. It takes the
// reference model's numbers of all components, and clips and rounds them to the lattice with code of its own. For a
// record that adds nothing, it writes zeros and returns false.
func (a *Subject) contribution(dst, all []float64, reference operators.ReferenceModel, r operators.Record) bool {
	clear(dst)
	if !reference.Contribution(all, r) {
		return false
	}
	for k, of := range a.components {
		from, to := a.bounds(a.first + k)
		a.componentContribution(dst[of.From:of.To], all[from:to], k)
	}
	return true
}

// componentContribution writes the contribution that a component makes of its numbers. If the component has a
// quantiser, the machine's own quantiser defines the contribution; the check of distances tests the quantiser's claim.
func (a *Subject) componentContribution(dst, numbers []float64, k int) {
	grid, integers := a.components[k].Grid, a.integers[a.components[k].From:a.components[k].To]
	unit := grid.Unit()
	q := a.mechanism.Contribution.Components[k].Quantiser
	if _, ball := q.(contribution.Ball); ball {
		// A contribution may be at most half the accounted distance away from its centre.
		limit, away := math.Sqrt(lattice.Grid{}.Float64(a.calibration.Component(k).Replace))/2*unit, make([]float64, len(dst))
		for i := range dst {
			dst[i] = math.RoundToEven(numbers[len(dst)+i]/unit) * unit
			away[i] = numbers[i] - dst[i]
		}
		factor := min(1, limit/lattice.Norm(away))
		for i, d := range away {
			dst[i] += math.RoundToEven(d*factor/unit) * unit
		}
		return
	}
	if q != nil {
		for i, n := range quantised(q, grid, len(dst), numbers) {
			dst[i] = float64(n) * integers[i]
		}
		return
	}
	for i, v := range numbers {
		dst[i] = v * unit / integers[i] // a release is divided by the square root of the coordinate's scale
	}
	factor := min(1, grid.Clip()/lattice.Norm(dst))
	for i, g := range dst {
		dst[i] = math.RoundToEven(g*factor/unit) * integers[i]
	}
}

// centres writes the public centres of a record's contributions, as the reference model reports them, and zeros where a
// contribution has none.
func (a *Subject) centres(dst, all []float64, adds bool) {
	clear(dst)
	for k, of := range a.components {
		if _, ball := a.mechanism.Contribution.Components[k].Quantiser.(contribution.Ball); !ball || !adds {
			continue
		}
		from, to := a.bounds(a.first + k)
		for i, x := range all[from+of.To-of.From : to] {
			dst[of.From+i] = math.RoundToEven(x/of.Grid.Unit()) * of.Grid.Unit()
		}
	}
}

// retained returns the share of a contribution that remains in a release one step later: 1 for a sum, 0 for per-step
// releases, γ for decaying sums.
func (a *Subject) retained() float64 {
	facts, _ := mechanisms.FactsOf(a.mechanism.Name)
	if memory, decays := a.mechanism.Scope.Memory(); decays {
		return float64(decay.Decay(memory)) / (1 << 30)
	}
	if facts.Structure == mechanisms.PerStep {
		return 0
	}
	return 1
}

// pair returns the next record of a canary along u if with is true, else the record that replaces it.
func (a *Subject) pair(reference operators.ReferenceModel, u []float64, with bool) operators.Record {
	first, second := reference.Canary(u, 1)
	switch {
	case with:
		return first
	case a.mechanism.Unit.AgainstNull():
		return operators.Record{Null: true, Key: first.Key} // keys are public
	default:
		return second
	}
}

// errUnseen is the error for a canary whose contribution is never added.
var errUnseen = errors.New("audit: no event of these settings adds to the sums")

// contributions returns the contributions of a canary along u and of its replacement, relative to their centre, at the
// start of a stream. They are the same at every other step.
func (a *Subject) contributions(u []float64) (with, without []float64, err error) {
	p, err := a.open()
	if err != nil {
		return nil, nil, err
	}
	var both [2][]float64
	for i, canary := range []bool{true, false} {
		sum, adds, err := p.contributionAt(a.earliest(), u, math.MaxUint64, canary)
		if err != nil {
			return nil, nil, err
		}
		if !adds && canary {
			return nil, nil, errUnseen
		}
		both[i] = sum
	}
	return both[0], both[1], nil
}

// dense returns a vector along which a canary moves the sums. It has norm 1 in each component and lies in the subspace
// of contributions. Its entries are random or, for noise whose worst case is in the ℓ1 norm, of equal size, half of
// them negative at random. If contributions exclude constant vectors, dense draws again after a constant vector.
func (a *Subject) dense(rng *rand.Rand) []float64 {
	facts, _ := mechanisms.FactsOf(a.mechanism.Name)
	for tries := 0; ; tries++ {
		all := a.units(func(_ int, u []float64) {
			for i := range u {
				u[i] = rng.NormFloat64()
				if facts.Law == mechanisms.Laplace {
					u[i] = float64(1 - 2*(i%2))
				}
			}
			rng.Shuffle(len(u), func(i, j int) { u[i], u[j] = u[j], u[i] })
		})
		if tries == 100 || !slices.ContainsFunc(all, math.IsNaN) {
			return all
		}
	}
}

// axis returns a unit vector along one number of the audited components; in each other component it is along the
// component's first number. It lies in the subspace of contributions.
func (a *Subject) axis(number int) []float64 {
	return a.units(func(component int, u []float64) {
		from, _ := a.bounds(component)
		start, _ := a.bounds(a.first)
		if at := number - (from - start); component >= a.first && at >= 0 && at < len(u) {
			u[at] = 1
		} else {
			u[0] = 1
		}
	})
}

// numbers returns the number of numbers that the audited components take.
func (a *Subject) numbers() int { return a.mechanism.Contribution.Entries() }

// units fills a vector component by component, and scales each to norm 1.
func (a *Subject) units(fill func(component int, u []float64)) []float64 {
	all := make([]float64, a.wholeMechanism.Contribution.Entries())
	vector := func(i int) []float64 { // the vector of component i without its public numbers
		from, to := a.bounds(i)
		if ball, centred := a.wholeMechanism.Contribution.Components[i].Quantiser.(contribution.Ball); centred {
			to = from + ball.Size
		}
		return all[from:to]
	}
	for i := range a.wholeMechanism.Contribution.Components {
		fill(i, vector(i))
	}
	reference, err := operators.ReferenceModelOf(a.operator, a.public)
	if err != nil {
		panic("BUG: auditor: the operator refuses its own params: " + err.Error())
	}
	reference.Tangent(all)
	for i := range a.wholeMechanism.Contribution.Components {
		u := vector(i)
		norm := lattice.Norm(u)
		for j := range u {
			u[j] /= norm
		}
	}
	return all
}
