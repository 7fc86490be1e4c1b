package names

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// Definition is the entry of names in the registry of operators.
var Definition = operators.Definition{
	Name: "names", Text: "counts of names that nobody listed; a name is shown if enough persons have it",
	ByClock: true, Settings: settings, Events: events, Values: values, New: configure,
}

// mostNames is the largest ORIEL_NAMES_MAX. A list of so many short names still fits maxListBytes.
const mostNames = 10_000

var settings = []setting.Row{
	{
		Name: "PERSON_NAMES", Kind: setting.Count, Unit: "names", Bounds: setting.From(1, math.MaxUint16), Default: "1",
		Text: "m, with ORIEL_USER_ID: for how many names a person counts in a period of ORIEL_USER_PERIOD, once for each: the " +
			"first ones that the person has. Noise grows m-fold, or by the root of m with once-gaussian",
	},
	{
		Name: "NAMES_MAX", Kind: setting.Count, Unit: "names", Bounds: setting.From(1, mostNames), Default: "1000",
		Text: "largest number of names in a decision: those with the largest counts. The list also ends before it takes 1 MB",
	},
}

// member is the name of the member of events that carries the name.
const member = "name"

func events(*setting.Values) operators.Events {
	return operators.Events{Body: event.Body{
		Name: "names", Text: "One event: the name that it counts for.",
		Members: []event.Member{{
			Name: member, Kind: event.KindName,
			Text: "Counted in Unicode's normal form C, in which it has at most 256 bytes; no control character, no unassigned code point of Unicode 15.0.",
		}},
	}}
}

// values returns for how many names a user counts.
func values(v *setting.Values) uint64 { return v.Count("PERSON_NAMES") }

func configure(v *setting.Values) (operators.Operator, error) {
	c := operator{terms: v.Terms, most: int(v.Count("NAMES_MAX")), perPerson: v.Count("PERSON_NAMES")}
	facts, known := mechanisms.FactsOf(v.Mechanism)
	v.Want("MECHANISM", !known || facts.EachStep() && (facts.Discrete() || facts.Normal()),
		"%s: names are counted with once-laplace or once-gaussian", v.Mechanism)
	v.Want("STEP", v.Step > 0, "not set: names are counted in steps by the clock; set it in place of ORIEL_BATCH, for example ORIEL_STEP=24h")
	c.persons = v.Terms.Unit.Figures().Period > 0
	v.Want("PERSON_NAMES", c.persons || c.perPerson == 1, "set, but events count, and not persons; set ORIEL_USER_ID and ORIEL_USER_PERIOD")
	if err := v.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// reference is the operators.ReferenceModel: an event adds 1 to the count of its name, whatever the name is.
type reference struct{ operators.Stateless }

func (operator) ReferenceModel([]byte) (operators.ReferenceModel, error) { return reference{}, nil }

func (reference) Contribution(dst []float64, r operators.Record) bool {
	dst[0] = 1
	return !r.Null && r.Event.Name != nil
}

// Canary returns a name that no other event has, and its absence.
func (c reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	return c.CanaryOf(0, u, factor)
}

// CanaryOf returns another name for each number.
func (reference) CanaryOf(number int, u []float64, _ float64) (with, without operators.Record) {
	with = operators.Record{Event: event.Event{Weight: 1, Name: fmt.Appendf(nil, "canary %d", number)}}
	if without = (operators.Record{Null: true}); math.Signbit(u[0]) {
		return without, with
	}
	return with, without
}
