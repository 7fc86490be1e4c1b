package residuals

import (
	"math"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// sumOperator is an operator that adds the values of events to the private sum and publishes the releases unchanged.
// Its streams may start at any step, because it does not count steps in a state of its own.
type sumOperator struct {
	// by component: largest number that a quantiser accepts unchanged, loss units; 0 without a quantiser
	longest []float64
	clips   []float64 // clip of each coordinate, loss units; 0 with a quantiser
}

// Params returns no parameters.
func (sumOperator) Params(mechanisms.Config) ([]byte, error) { return nil, nil }

// Open returns the machine.
func (sumOperator) Open(_ []byte, stream *mechanisms.Stream) (operators.Machine, error) {
	return sumMachine{stream}, nil
}

// Describe returns an empty description.
func (sumOperator) Describe(mechanisms.Config) description.Figures { return description.Figures{} }

// Extras returns no extra members.
func (sumOperator) Extras() []decision.Extra { return nil }

// Require changes nothing, because the subject already has its contribution.
func (sumOperator) Require(*mechanisms.Config, []byte) error { return nil }

// ReferenceModel returns a model that computes contributions from events.
func (s sumOperator) ReferenceModel([]byte) (operators.ReferenceModel, error) {
	return sumReference{sumOperator: s}, nil
}

type sumMachine struct{ *mechanisms.Stream }

// Open returns no decisions, because none is due before the first record.
func (sumMachine) Open(dst []operators.Decision) []operators.Decision { return dst }

// Add adds the values of an event.
func (m sumMachine) Add(r operators.Record) {
	var values []float64
	if !r.Null {
		values = r.Event.Vector.Values
	}
	m.Stream.Add(r.Identity, values)
}

// Close closes the step.
func (m sumMachine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	return dst
}

// Steps returns the number of closed steps.
func (m sumMachine) Steps() uint64 { return m.Step() }

// Due returns that no decision is due.
func (sumMachine) Due(uint64) (first uint64, count int) { return 0, 0 }

// sumReference is the operators.ReferenceModel of sumOperator.
type sumReference struct {
	operators.Stateless
	sumOperator
}

func (t sumReference) Contribution(dst []float64, r operators.Record) bool {
	if r.Null {
		return false
	}
	copy(dst, r.Event.Vector.Values)
	return true
}

func (t sumReference) Canary(u []float64, factor float64) (with, without operators.Record) {
	record := func(by float64) operators.Record {
		values := make([]float64, len(u))
		for i, x := range u {
			values[i] = by * x * (operators.CanaryFactor*factor*t.clips[i] + min(1, factor)*t.longest[i])
		}
		return operators.Record{Event: event.Event{Vector: event.Vector{Values: values}}}
	}
	return record(1), record(-1)
}

// BeforeReset returns a subject with only the private sum of a decaying mechanism; its runs start a little before a
// reset.
func BeforeReset(a *subject.Subject) *subject.Subject {
	b := *a
	b.WholeMechanism, b.WholeCalibration = audit.RawContributions(a.WholeMechanism, a.WholeCalibration)
	b.Mechanism, b.Calibration = audit.RawContributions(a.Mechanism, a.Calibration)
	var s sumOperator
	units := definition.Integers(b.WholeMechanism, b.WholeCalibration)
	for k, of := range definition.Components(b.WholeMechanism, b.WholeCalibration) {
		for _, unit := range units[of.From:of.To] {
			longest, clip := 0.0, of.Grid.Clip()
			if q := b.WholeMechanism.Contribution.Components[k].Quantiser; q != nil {
				_, zeroOut := q.Distances(of.Grid)
				longest, clip = math.Sqrt(lattice.Grid{}.Float64(zeroOut))/2*unit, 0
			}
			s.longest, s.clips = append(s.longest, longest), append(s.clips, clip)
		}
	}
	b.Operator = s
	b.Machine, b.Params, b.Carriers, b.Lag = operators.Operator.Open, nil, 1, 0
	b.Late = decay.Period(a.Calibration.Decay.Memory) - audit.StepsBefore
	return &b
}
