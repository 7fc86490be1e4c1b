package operators

// ReferenceModel computes the contribution of a record by slow and plain code, independently of the machine. An audit
// gives the model every decision that a machine publishes, in order, and asks it for the next contribution.
type ReferenceModel interface {
	// Begin starts a new run, before its first record.
	Begin()

	// Observe takes the decisions that were due after a record, or before the first record.
	Observe(decisions []Decision)

	// Contribution writes the numbers that the next record adds to the sums. These are the arguments of Stream.Add in
	// loss units, before any clipping, quantisation or rounding to the lattice. It returns false for a record that adds
	// nothing. It is called once for each record, in order.
	Contribution(dst []float64, r Record) bool

	// Canary returns two events for the next record, with the same key. The key must depend only on earlier keys and
	// decisions. It must not depend on u, on factor, or on the contents of earlier records.
	//
	// Their contributions point along u and −u, as far as the operator allows. u has norm 1 in each component, and has
	// passed Tangent. At factor 1 each contribution is at least CanaryFactor times as long as the clip; another factor
	// scales it. At factor 1 the contributions must not depend on when the events come, with one exception: a component
	// with a public centre (contribution.Ball) adds the centre to both. In a component with a quantiser, the
	// contributions at factor 1 must be at the distance that its Distances declares. u may then select one of several
	// pairs at this distance.
	Canary(u []float64, factor float64) (with, without Record)

	// Records returns the records that make up an event of Canary, in their order. For example, a context and its
	// reward are two records. Each of them must come in a later step than the record before it. The event contributes
	// lag steps after its last record. It contributes with the first record of that step if no other contribution
	// waits. All events must have the same number of records and the same lag.
	Records(event Record) (records []Record, lag uint64)

	// Tangent projects a vector to the directions that contributions can have, for example to the tangent space of a
	// simplex.
	Tangent(u []float64)
}

// ManyValues is a ReferenceModel of an operator that counts users once for each of several values (Distinct).
type ManyValues interface {
	ReferenceModel

	// CanaryOf is Canary for events with the value of this number, from 0. Different numbers are different values.
	CanaryOf(number int, u []float64, factor float64) (with, without Record)
}

// OneRecord is embedded by reference models whose events are one record each and contribute at once.
type OneRecord struct{}

// Records returns the event as its only record, and a lag of 0.
func (OneRecord) Records(event Record) (records []Record, lag uint64) { return []Record{event}, 0 }

// Stateless is embedded by reference models whose contributions depend only on the record and may point in any
// direction.
type Stateless struct{ OneRecord }

// Begin does nothing, because there is no state to reset.
func (Stateless) Begin() {}

// Observe does nothing, because contributions do not depend on decisions.
func (Stateless) Observe([]Decision) {}

// Tangent leaves u unchanged, because contributions can have every direction.
func (Stateless) Tangent([]float64) {}

// CanaryFactor is the least length of a canary's gradient, as a multiple of the clip. If the operator allows it, the
// gradient has this length even before it is multiplied by its weight. An audit then detects a missing clip, and a clip
// that is applied before the weight.
const CanaryFactor = 64
