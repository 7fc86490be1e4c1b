package auditor

import (
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/operators"
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
func (sumOperator) Describe(mechanisms.Config) operators.Description { return operators.Description{} }

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
func (m sumMachine) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	var values []float64
	if !r.Null {
		values = r.Event.Vector.Values
	}
	m.Stream.Add(r.Identity, values)
	return dst
}

// Steps returns the number of closed steps.
func (m sumMachine) Steps() uint64 { return m.Step() }

// Due returns that no decision is due.
func (sumMachine) Due(uint64) (first uint64, count int) { return 0, 0 }

// sumReference is the operators.ReferenceModel of sumOperator.
type sumReference struct {
	operators.OneRecord
	sumOperator
}

func (sumReference) Begin() {}

func (sumReference) Observe([]operators.Decision) {}

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

func (sumReference) Tangent([]float64) {}

// beforeReset returns a subject with only the private sum of a decaying mechanism; its runs start a little before a
// reset.
func (a *Subject) beforeReset() *Subject {
	b := *a
	b.wholeMechanism, b.wholePlan = audit.RawContributions(a.wholeMechanism, a.wholePlan)
	b.mechanism, b.plan = audit.RawContributions(a.mechanism, a.plan)
	var s sumOperator
	units := definition.Integers(b.wholeMechanism, b.wholePlan)
	for k, of := range definition.Components(b.wholeMechanism, b.wholePlan) {
		for _, unit := range units[of.From:of.To] {
			longest, clip := 0.0, of.Grid.Clip()
			if q := b.wholeMechanism.Contribution.Components[k].Quantiser; q != nil {
				_, zeroOut := q.Distances(of.Grid)
				longest, clip = math.Sqrt(lattice.Grid{}.Float64(zeroOut))/2*unit, 0
			}
			s.longest, s.clips = append(s.longest, longest), append(s.clips, clip)
		}
	}
	b.operator = s
	b.machine, b.public, b.carriers, b.lag = openMachine, nil, 1, 0
	b.late = decay.Period(a.plan.Decay.Memory) - audit.StepsBefore
	return &b
}
