package operators

import (
	"errors"

	"oriel/mechanisms"
	"oriel/operators/description"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Operator is an algorithm with its settings. Every operator has these five methods. Abilities that only some operators
// have are separate interfaces, which callers find by type assertion: Formatted, Writer, Descriptive, Scorer, Reporter,
// Testing, Thinning, Cautious, Audited, Distinct and Costed.
type Operator interface {
	// Require adds to c the operator's requirements of a mechanism. These are the contribution of a record
	// (c.Contribution), and possibly a bound on the mechanism's error, or draws. params is the result of Params from
	// the opening of the incarnation, or nil before the opening. If a later version would make a choice differently,
	// Require must keep the choice in params.
	Require(c *mechanisms.Config, params []byte) error

	// Params returns the inputs of a machine that its configuration does not contain: values that depend on a
	// platform's math library, and the contents of lists and files. It is called once, when an incarnation is opened,
	// and the result is stored.
	Params(c mechanisms.Config) ([]byte, error)

	// Open returns the machine at step 0. The machine takes ownership of the stream.
	Open(params []byte, stream *mechanisms.Stream) (Machine, error)

	// Extras returns the further members of decisions, after the members that all operators have, in their order.
	Extras() []decision.Extra

	// Describe returns the figures that `oriel plan` prints before any event is read.
	Describe(c mechanisms.Config) description.Figures
}

// Formatted is an Operator whose decisions do not print one number for each coordinate.
type Formatted interface {
	Operator
	Form() decision.Form
}

// Writer is an Operator that may have a second topic of decisions.
type Writer interface {
	Operator
	SecondTopic() *Output // nil: there is no second topic
}

// Descriptive is an Operator whose consumers need more than decisions, such as the names of coordinates.
type Descriptive interface {
	Operator
	Descriptor() []byte // a JSON object, which is published with the decisions
}

// Scorer is an Operator whose decisions can be scored on later events.
type Scorer interface {
	Operator
	Score() *Score // nil: a score would need more than events
}

// Reporter is an Operator whose decisions are statistics of the events.
type Reporter interface {
	Operator
	Numbers() *Numbers
}

// Thinning is an Operator that does not publish every decision that it computes.
type Thinning interface {
	Operator

	// EmitAll returns an operator that publishes every decision, because an audit needs each decision to choose its
	// canaries. Everything else must stay equal, for example how long feedback waits. An audit runs both operators.
	EmitAll() Operator
}

// Testing is an Operator whose decisions test the effects of an experiment.
type Testing interface {
	Operator

	// Power returns how many events an experiment needs to find an effect. law describes the noise of a step in the
	// contribution's only component. The result is nil if no experiment is configured. Power returns an error for a law
	// under which no experiment can be opened, and for a standard deviation that outcomes cannot have.
	Power(law mechanisms.NoiseLaw, batch uint64, aim Aim) (*Power, error)

	Experiment() *Experiment // nil: no experiment is configured

	// Starts returns the first steps, ascending, of all experiments that the params of a stream define.
	Starts(params []byte) (steps []uint64, err error)

	// Next returns the bytes to append to the params of a stream, so that the present experiment ends before a step and
	// the next one starts with it. No process may have computed that step yet. The choice of the step may depend on the
	// releases of the first `announced` steps. Next refuses a step that is not after the first steps of all
	// experiments.
	Next(params []byte, step, announced uint64) ([]byte, error)

	// Wider returns how many times as wide the bands of an experiment that Next appends are, at its expected number of
	// events, as those of an experiment whose first step the settings list. It is 0 if the horizon ends before the
	// experiment has as many events as its first look.
	Wider(law mechanisms.NoiseLaw, batch, step, announced uint64) float64
}

// Aim is an effect that an experiment is planned to find.
type Aim struct {
	Effect      float64 // effect of an arm on the mean outcome, in units of values
	Probability float64 // probability of finding the effect
	Deviation   float64 // standard deviation of outcomes in an arm, units of values; 0: they are ends of the range
}

// Power describes how many events an experiment needs to find an effect. A number of 0 means more than MaxEvents.
type Power struct {
	OneLook        float64 // without privacy, with a single look at the end
	WithoutPrivacy float64 // without privacy, with looks at any time
	Events         float64 // with the configured privacy
	MaxEvents      float64 // number of events of the experiment, or the largest number that was tried
	Later          []LaterStart
}

// LaterStart is what an experiment pays that is added to a running stream, after one of the expected number of events.
type LaterStart struct {
	StepsAhead uint64  `json:"steps_ahead"` // steps from the announcement to the start
	Wider      float64 `json:"width"`       // its bands, divided by those of an experiment whose first step the settings list
}

// Cautious is an Operator that detects settings that are valid but seldom intended, and that would otherwise cause no
// message.
type Cautious interface {
	Operator

	// Cautions returns warnings for people, each of one or two sentences that name the setting and propose another
	// value. They depend only on the settings.
	Cautions() []string
}

// Audited is an Operator that `oriel audit` can attack.
type Audited interface {
	Operator

	// ReferenceModel returns the slow, plain code that an audit compares with machines of EmitAll. An audit compares
	// machines of the operator itself only with the same machines over other records: for these machines Canary and
	// Records must be right, and Contribution must be right for the first event of a stream.
	ReferenceModel(params []byte) (ReferenceModel, error)
}

// Output describes a second topic, for decisions that not every reader of the first topic may see. Its decisions have
// Output 1.
type Output struct {
	Suffix string // suffix of the topic's name, <deployment>.<suffix>
	Text   string // says what the topic contains, and who may read it

	// Own says that the k-th of these decisions in a step answers the step's k-th record, and also depends on that
	// record (joint privacy). All other publications must depend only on releases.
	Own bool

	// Key names the text among Extras that these decisions have as their record key. If Key is empty, the record key is
	// the stream's name, as in the first topic.
	Key string
}

// Distinct is an Operator that may count each user once for each value of the user's records in a period, for example
// in each cell. It does so if Definition.Values is not 0.
type Distinct interface {
	Operator

	// Value appends the value of an event to dst. It returns false if the event has none. Such an event contributes
	// nothing, and takes no place among the user's values. Value must be a function of the event alone. Contributions of
	// different values must not have a coordinate in common.
	Value(dst []byte, e event.Event) (value []byte, has bool)
}

// Costed is an Operator whose events are vectors of costs, one cost for each coordinate of a decision.
type Costed interface {
	Operator
	Costs() *description.Costs // nil: events are not costs
}

// ability returns the result of a method of the interface A, or the zero value if o does not implement A.
func ability[A, R any](o Operator, method func(A) R) (result R) {
	if a, ok := o.(A); ok {
		result = method(a)
	}
	return result
}

// FormOf returns the form in which decisions of o print their point.
func FormOf(o Operator) decision.Form { return ability(o, Formatted.Form) }

// SecondTopicOf returns the second topic of o, or nil if it has none.
func SecondTopicOf(o Operator) *Output { return ability(o, Writer.SecondTopic) }

// DescriptorOf returns the descriptor of o, or nil if it has none.
func DescriptorOf(o Operator) []byte { return ability(o, Descriptive.Descriptor) }

// CostsOf returns how o projects costs, or nil if its events are not costs.
func CostsOf(o Operator) *description.Costs { return ability(o, Costed.Costs) }

// ScoreOf returns how decisions of o are scored, or nil if they cannot be.
func ScoreOf(o Operator) *Score { return ability(o, Scorer.Score) }

// NumbersOf returns which statistics the decisions of o contain, or nil if they are not statistics.
func NumbersOf(o Operator) *Numbers { return ability(o, Reporter.Numbers) }

// EmitAllOf returns o, or, if o is Thinning, its variant that publishes every decision.
func EmitAllOf(o Operator) Operator {
	if t, ok := o.(Thinning); ok {
		return t.EmitAll()
	}
	return o
}

// ReferenceModelOf returns the reference model of o.
func ReferenceModelOf(o Operator, params []byte) (ReferenceModel, error) {
	if a, ok := o.(Audited); ok {
		return a.ReferenceModel(params)
	}
	return nil, errors.New("operators: the operator has no reference model, which an audit needs")
}
