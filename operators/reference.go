package operators

// ReferenceModel computes the contribution of a record by slow and plain code, which must not be the machine's: a
// second opinion. An audit passes it every decision that a machine publishes, in order, and asks for the next
// contribution.
type ReferenceModel interface {
	// Begin starts a run: no record has been added.
	Begin()

	// Observe takes the decisions that a record brought about, or that were owed before the first record.
	Observe(decisions []Decision)

	// Contribution writes the numbers that the next record adds to the sums: those of Stream.Add, loss units, before any
	// clip, quantiser and lattice. It returns false for a record that adds nothing. It is called once a record, in order.
	Contribution(dst []float64, r Record) bool

	// Canary returns two events for the next record, with the same key. The key must depend only on earlier keys and
	// decisions: neither on u, nor on factor, nor on the contents of earlier records.
	//
	// Their contributions point along u and −u, as far as the operator allows. u has norm 1 in each component, and has
	// passed Tangent. At factor 1 each contribution is at least CanaryFactor times as long as the clip; another factor
	// scales it. At factor 1 the contributions are the same whenever the events come, except that the public centre of a
	// component with one (contribution.Ball) moves both. In a component with a quantiser they are, at factor 1, as far
	// apart as its Distances say; there u may only choose among such pairs.
	Canary(u []float64, factor float64) (with, without Record)

	// Records returns the records that carry an event of Canary, in their order. For example, a context and its reward
	// are two records. Each must come in a later step than the one before it. The event contributes lag steps after the
	// last of them, with the first record of that step if nothing else waits. All events have the same number of records
	// and the same lag.
	Records(event Record) (records []Record, lag uint64)

	// Tangent projects a vector onto the directions that contributions can have, for example the tangent space of a
	// simplex.
	Tangent(u []float64)
}

// OneRecord is embedded by reference models whose events are one record each, which contributes at once.
type OneRecord struct{}

// Records returns the event.
func (OneRecord) Records(event Record) (records []Record, lag uint64) { return []Record{event}, 0 }

// Stateless is embedded by reference models whose contributions depend on nothing but the record, and may point
// anywhere.
type Stateless struct{ OneRecord }

// Begin has nothing to forget.
func (Stateless) Begin() {}

// Observe has nothing to remember.
func (Stateless) Observe([]Decision) {}

// Tangent leaves every direction.
func (Stateless) Tangent([]float64) {}

// CanaryFactor is the least length of a canary's gradient, in clips. If the operator allows it, the gradient has this
// length without its weight, too. A missing clip, or a clip before the weight, then shows.
const CanaryFactor = 64
