package toy

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/operators/pending"
	"oriel/schemas/event"
)

type operator struct {
	arms      []string
	dimension int
	clip      float64
	timeout   uint64
	batch     uint64
	constant  bool
}

func (c operator) Require(m *mechanisms.Config, _ []byte) error {
	m.Contribution = contribution.OneComponent(1+c.dimension, c.clip)
	return nil
}

// Params freezes the settings of the list.
func (c operator) Params(mechanisms.Config) ([]byte, error) {
	return []byte(strings.Join(c.arms, "\n")), nil
}

func (c operator) Open(plan []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	rows, err := pending.New(pending.Config{Capacity: int(c.timeout) + 1, Width: 1, Name: 24, Timeout: c.timeout})
	if err != nil {
		return nil, err
	}
	arms := strings.Split(string(plan), "\n")
	if len(arms) < 2 {
		return nil, errors.New("toy: params: fewer than two arms")
	}
	return &machine{
		Base: operators.Base{Operator: "toy", Stream: sums, Fields: []operators.Field{rows}},
		rows: rows, arms: arms, members: c.members(), leaf: make([]float64, 1+c.dimension), constant: c.constant,
	}, nil
}

func (c operator) Describe(mechanisms.Config) description.Figures {
	return description.Figures{Draws: true}
}

func (c operator) ReferenceModel([]byte) (operators.ReferenceModel, error) {
	return &reference{operator: c}, nil
}

var (
	_ operators.Writer      = operator{}
	_ operators.Descriptive = operator{}
	_ operators.Audited     = operator{}
)

type machine struct {
	operators.Base
	rows *pending.Table
	arms []string
	leaf []float64

	members  *members
	constant bool
}

// law is the exponential mechanism by which arms are drawn from releases.
var law = mechanisms.Exponential{
	Epsilon:     mechanisms.Ratio{Num: 1, Den: 1},
	Sensitivity: mechanisms.Ratio{Num: 1000, Den: 1},
}

func (m *machine) Open(dst []operators.Decision) []operators.Decision { return m.play(dst, 0) }

func (m *machine) Add(r operators.Record) { m.Stream.Add(r.Identity, m.taken(r)) }

func (m *machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	t := m.Stream.Step()
	for {
		if _, ok := m.rows.Expired(t); !ok {
			break
		}
	}
	return m.play(append(dst, operators.Decision{Index: 2*t - 1, Step: t, Point: m.point()}), t)
}

// taken returns what a record adds. A record with the key of a pending row takes the row, whatever the record contains.
func (m *machine) taken(r operators.Record) []float64 {
	row, outcome := m.rows.Take(r.Key, m.Stream.Step())
	if outcome != pending.Done || r.Null || !usable(r.Event, len(m.leaf)-1) {
		return nil
	}
	fill(m.leaf, r.Event, row.Values[0], m.constant)
	return m.leaf
}

// usable reports whether the decoder could have returned the event. Any other event adds nothing.
func usable(e event.Event, dimension int) bool {
	ok := len(e.Numbers) == 1 && finite(e.Numbers) && finite(e.Vector.Values)
	if e.Vector.Indices == nil {
		return ok && len(e.Vector.Values) == dimension
	}
	for _, i := range e.Vector.Indices {
		ok = ok && int(i) < dimension
	}
	return ok
}

func finite(values []float64) bool {
	for _, x := range values {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

func fill(leaf []float64, e event.Event, arm float64, constant bool) {
	leaf[0] = float64(e.Numbers[0] * (1 + arm))
	clear(leaf[1:])
	for i, x := range e.Vector.Values {
		at := i
		if e.Vector.Indices != nil {
			at = int(e.Vector.Indices[i])
		}
		leaf[1+at] = x
	}
	if constant {
		leaf[0] = 1
		for i, x := range leaf[1:] {
			leaf[1+i] = max(-0.1, min(0.1, x))
		}
	}
}

func (m *machine) point() []float64 { return append([]float64{}, m.Stream.Sum(0)...) }

// play draws an arm and adds a pending row for the action, unless the stream ends before feedback could come.
func (m *machine) play(dst []operators.Decision, t uint64) []operators.Decision {
	if m.Stream.Ended() {
		return dst
	}
	scores, shown := make([]int64, len(m.arms)), make([]float64, len(m.arms))
	level := m.Stream.Sum(0)[0] / float64(t+1)
	for i := range scores {
		scores[i] = int64(math.Floor(float64(1000 * max(-100, min(100, float64(level*float64(i)))))))
		shown[i] = float64(scores[i])
	}
	arm := m.Stream.Choose(0, scores, law)
	name := "play-" + strconv.FormatUint(2*t, 10)
	if m.rows.Put([]byte(name), t, []float64{float64(arm)}) != pending.Done {
		panic("BUG: toy: a play does not wait")
	}
	values := m.members.Values()
	m.members.arm.Set(values, m.arms[arm])
	m.members.play.Set(values, name)
	m.members.scores.Set(values, shown)
	return append(dst, operators.Decision{Index: 2 * t, Step: t, Point: m.point()[1:], Output: 1, Extras: values})
}

func (m *machine) Due(step uint64) (first uint64, count int) {
	switch step {
	case 0:
		return 0, 1
	case m.Stream.End():
		return 2*step - 1, 1
	}
	return 2*step - 1, 2
}
