package clock

import (
	"time"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/rates"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/state/users"
)

// Input holds the settings and sizes of a Report.
type Input struct {
	Clock     steps.Clock
	Period    steps.Clock   // users' periods; zero: none
	Opening   time.Time     // a time in the first step
	Named     bool          // ORIEL_START names Opening
	Delay     time.Duration // from the end of a step to its decision
	Guarantee protection.Guarantee
	Decision  digits.Number // bytes of a decision; None: unknown
	Partition rates.Partitions
	Outage    rates.Work // what one stream does in an hour; zero: unknown
}

// Report describes steps by the clock, as `oriel plan --json` prints them. Lengths of time are in seconds, losses ε are
// rounded up.
type Report struct {
	Step       int64         `json:"step_seconds"`
	Offset     int64         `json:"offset_seconds"`
	First      First         `json:"first_step"`
	Decisions  digits.Number `json:"decisions_a_day"`
	DayBytes   digits.Number `json:"decision_bytes_a_day"` // null: the size of a decision is not known
	Period     *Period       `json:"user_period,omitempty"`
	Exchange   digits.Number `json:"epsilon_of_an_exchange"` // one unit is absent and another one present
	OrderIdle  digits.Number `json:"order_log_bytes_a_day_idle"`
	OrderEntry digits.Number `json:"order_log_bytes_a_day_for_a_busy_partition"` // with records in every second
	OrderBytes digits.Number `json:"order_log_bytes_a_day"`                      // at the rate of --rate; null: not known
	Outage     Outage        `json:"after_an_hour_of_outage"`

	in Input
}

// First is the first step of a stream.
type First struct {
	Step     uint64    `json:"step"` // its number, and the index of its decision
	Begin    time.Time `json:"begin"`
	End      time.Time `json:"end"`
	Decision time.Time `json:"decision"` // when its decision is published
	Named    bool      `json:"by_setting"`
}

// Period describes the loss of users.
type Period struct {
	Seconds  int64         `json:"seconds"`
	Steps    uint64        `json:"steps"`
	Events   uint64        `json:"records,omitempty"`    // records of a user that count in a period
	Values   uint64        `json:"values,omitempty"`     // or different values, such as cells
	Memory   int64         `json:"memory_bytes_a_user"`  // at most, of each user of the period
	OneEvent digits.Number `json:"epsilon_of_one_event"` // one event is present or absent; the user's others are in both streams
	Active   []Active      `json:"active_in"`
}

// Active is the loss of all events of a user in a number of periods.
type Active struct {
	Periods uint64        `json:"periods"`
	Epsilon digits.Number `json:"epsilon"`
	Delta   digits.Number `json:"delta"` // grows with the periods only for names, a part of whose δ is told
}

// Outage is what an hour without a running service costs when it runs again.
type Outage struct {
	Decisions digits.Number `json:"decisions"`
	Bytes     digits.Number `json:"bytes"`   // of decisions; null: the size of a decision is not known
	Seconds   digits.Number `json:"seconds"` // without the time of brokers; null: the operator was not measured
}

// periods are the numbers of periods in which a user may be active: a day, a week, a month and a year of days.
var periods = []uint64{1, 7, 30, 365}

// New computes a report.
func New(in Input) *Report {
	day, length := float64(steps.Day), float64(in.Clock.Length)
	first := in.Clock.Of(in.Opening.Unix())
	at := func(second int64) time.Time { return time.Unix(second, 0).UTC() }
	idle, entry := in.Partition.SlotBytes()
	r := &Report{
		Step: in.Clock.Length, Offset: in.Clock.Offset, Decisions: digits.Number(day / length),
		First: First{
			Step: first, Begin: at(in.Clock.Begin(first)), End: at(in.Clock.End(first)),
			Decision: at(in.Clock.End(first)).Add(in.Delay), Named: in.Named,
		},
		Exchange:  digits.Number(in.Guarantee.Group(2).Epsilon),
		OrderIdle: digits.Number(idle), OrderEntry: digits.Number(entry), OrderBytes: digits.None,
		in: in,
	}
	r.DayBytes = r.Decisions * in.Decision
	if in.Partition.Count > 0 && in.Partition.Rate > 0 {
		r.OrderBytes = digits.Number(idle + entry*in.Partition.Moved(time.Second))
	}
	unit := in.Guarantee.Unit.Figures()
	if unit.Period > 0 {
		r.Period = &Period{
			Seconds: in.Period.Length, Steps: unit.Period, Events: unit.Events, Values: unit.Values, Memory: users.BytesPerUser,
			OneEvent: digits.Number(in.Guarantee.AtOneEvent().Epsilon),
		}
		if unit.Values > 1 {
			r.Period.Memory += int64(unit.Values) * users.BytesPerValue
		}
		for _, n := range periods {
			loss := in.Guarantee.AtPeriods(n)
			r.Period.Active = append(r.Period.Active, Active{n, digits.Number(loss.Epsilon), digits.Number(loss.Delta)})
		}
	}
	late := float64((outage + in.Clock.Length - 1) / in.Clock.Length)
	decisions := digits.Number(late)
	r.Outage = Outage{Decisions: decisions, Bytes: decisions * in.Decision, Seconds: in.Outage.Seconds(late, outage)}
	return r
}

// outage is the length of the outage in seconds.
const outage = 3600
