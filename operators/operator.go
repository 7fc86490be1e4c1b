package operators

import (
	"errors"

	"oriel/mechanisms"
	"oriel/schemas"
)

// Operator is an algorithm with its settings. These five methods are all that every operator has. What only some have
// is an interface of its own, which callers find by assertion: Formatted, Writer, Descriptive, Scorer, Reporter,
// Testing, Thinning, Cautious, Successor, Audited and Costed.
type Operator interface {
	// Require adds to c what the operator requires of a mechanism: the contribution of a record (c.Contribution), and
	// perhaps a bound on the mechanism's error, or draws. params are those that Params made when the incarnation was
	// opened, nil before: what a later version would choose otherwise must stay as it was.
	Require(c *mechanisms.Config, params []byte) error

	// Params freezes what a machine needs beside its configuration: values that only a platform's math library can
	// compute, and the contents of lists and files. It is called once, when an incarnation is opened.
	Params(c mechanisms.Config) ([]byte, error)

	// Open returns the machine at step 0. The machine takes the stream over.
	Open(params []byte, stream *mechanisms.Stream) (Machine, error)

	// Extras are the members that decisions have behind those of all operators, in their order.
	Extras() []schemas.Extra

	// Describe returns the figures of `oriel plan`, before any event is read.
	Describe(c mechanisms.Config) Description
}

// Formatted is an Operator whose decisions do not print a number for each coordinate.
type Formatted interface {
	Operator
	Form() schemas.Form
}

// Writer is an Operator that may have a second topic of decisions.
type Writer interface {
	Operator
	SecondTopic() *Output // nil: it has none
}

// Descriptive is an Operator whose consumers need more than decisions, such as the names of coordinates.
type Descriptive interface {
	Operator
	Descriptor() []byte // a JSON object, which is published
}

// Scorer is an Operator whose decisions can be scored on the events that follow them.
type Scorer interface {
	Operator
	Score() *Score // nil: events alone do not suffice
}

// Reporter is an Operator whose decisions are statistics of the events.
type Reporter interface {
	Operator
	Numbers() *Numbers
}

// Thinning is an Operator that does not publish every decision that it computes.
type Thinning interface {
	Operator

	// EmitAll returns the same operator, which publishes all of them, because an audit aims its canaries by decisions.
	// Everything else must stay, for example how long feedback waits. An audit plays both operators.
	EmitAll() Operator
}

// Testing is an Operator whose decisions test effects of an experiment.
type Testing interface {
	Operator

	// Power tells after how many events an effect, in units of values, is found with a probability, under the law of the
	// noise of the contribution's only component and a batch. nil: no experiment is configured. It refuses a law under
	// which no experiment opens.
	Power(law mechanisms.NoiseLaw, batch uint64, effect, power float64) (*Power, error)

	Experiment() *Experiment // nil: no experiment is configured
}

// Power is how many events it takes to find an effect; 0: more than Most.
type Power struct {
	OneLook        float64 // without privacy, where one looks once, at the end
	WithoutPrivacy float64 // without privacy, at any look
	Events         float64 // as is configured
	Most           float64 // events that the experiment has, or that were looked at
}

// Cautious is an Operator that knows which of its settings are valid, seldom meant, and silent otherwise.
type Cautious interface {
	Operator

	// Cautions are warnings for people, one sentence or two each, which name the setting and say what to do. They follow
	// from settings alone.
	Cautions() []string
}

// Successor is an Operator whose streams can go on after a predecessor, a stream with another secret whose state is
// gone, from the last decision that the predecessor published. All releases of both streams together then protect an
// event that one of them has released as that one does alone (mechanisms/decay/PROOF.md, Theorem 3).
type Successor interface {
	Operator

	// ParamsAfter is Params of such a stream, whose mechanism has a memory. It refuses a decision that no stream of this
	// operator can have published.
	ParamsAfter(c mechanisms.Config, last Decision) ([]byte, error)
}

// Audited is an Operator that `oriel audit` can attack.
type Audited interface {
	Operator

	// ReferenceModel returns the slow, plain code that an audit compares machines of EmitAll with. Machines of the
	// operator itself are compared record by record only: for them Canary and Records must hold, and Contribution for the
	// first event of a stream.
	ReferenceModel(params []byte) (ReferenceModel, error)
}

// Output is a second topic, for decisions that are not for all who read the first: those whose Output is 1.
type Output struct {
	Suffix string // of its name: <deployment>.<suffix>
	Text   string // what is in it, and who may read it

	// Own says that the k-th of these decisions in a step answers the step's k-th record, and follows from that record
	// too: joint privacy. Everything else that is published must follow from releases alone.
	Own bool

	// Key names the ExtraText that its decisions have as their record key. Where it is empty, the key is the stream's
	// name, as in the first topic.
	Key string
}

// FormOf returns how decisions of o print their point.
func FormOf(o Operator) schemas.Form {
	if f, ok := o.(Formatted); ok {
		return f.Form()
	}
	return schemas.Dense
}

// SecondTopicOf returns the second topic of o, or nil.
func SecondTopicOf(o Operator) *Output {
	if w, ok := o.(Writer); ok {
		return w.SecondTopic()
	}
	return nil
}

// DescriptorOf returns the descriptor of o, or nil.
func DescriptorOf(o Operator) []byte {
	if d, ok := o.(Descriptive); ok {
		return d.Descriptor()
	}
	return nil
}

// ScoreOf returns how decisions of o are scored, or nil.
func ScoreOf(o Operator) *Score {
	if s, ok := o.(Scorer); ok {
		return s.Score()
	}
	return nil
}

// NumbersOf returns which statistics decisions of o are, or nil.
func NumbersOf(o Operator) *Numbers {
	if r, ok := o.(Reporter); ok {
		return r.Numbers()
	}
	return nil
}

// EmitAllOf returns o, or what publishes every decision that o computes.
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
