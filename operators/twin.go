package operators

// Twin knows what a record should add to the private sums, by code that is slow, plain, and not the machine's: a second
// opinion. An audit tells it all that a machine publishes, in order, and asks about the next record.
type Twin interface {
	// Begin starts a run: no record has been added.
	Begin()

	// Decided tells the decisions that a record brought about, or that were owed before the first.
	Decided(decisions []Decision)

	// Leaf writes what a record that comes next adds to the sums, loss units, before any clip, quantiser and lattice:
	// the numbers of Stream.Add. It reports whether it adds anything. Called once a record, in order.
	Leaf(dst []float64, r Record) bool

	// Canary returns two events that may come next, under one key, which does not depend on u, on factor and on what
	// records before it said: only on their keys and on what was decided. Their leaves point along u and −u, as far as the
	// leaf allows it:
	// u is a vector of norm 1 in each part, which Direct has seen. At factor 1 each is at least Beyond times as long
	// as the clip; another factor makes it so many times longer. Their leaves at factor 1 are the same whenever they
	// come, but for the public centre of a part that has one (mechanisms.Ball), by which both are moved. In a part
	// with a quantiser they are, at factor 1, as far apart as its Distances say; u may choose among such pairs.
	Canary(u []float64, factor float64) (with, without Record)

	// Records returns the records that carry an event of Canary, in their order: a pair of a context and its reward is
	// two. Each must come in a later step than the one before it. The event's leaf is added lag steps after the last of
	// them, with the first record of that step where nothing else waits. Their number and lag are the same for all events.
	Records(event Record) (records []Record, lag uint64)

	// Direct brings a vector into the directions that leaves have: the tangent space of a simplex, for instance.
	Direct(u []float64)
}

// Prompt is embedded by twins whose events are one record, which adds its leaf itself.
type Prompt struct{}

// Records returns the event.
func (Prompt) Records(event Record) (records []Record, lag uint64) { return []Record{event}, 0 }

// Beyond is how many times the clip the gradient of a canary is long at least, by its weight and, where the operator
// allows it, without the weight too: so a clip that is off, or that comes before the weight, shows.
const Beyond = 64
