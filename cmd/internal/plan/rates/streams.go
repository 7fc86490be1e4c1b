package rates

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/pipeline/order"
	"oriel/state/users"
)

// Streams compares the durations that the setting has with the whole input as one stream, and with one stream per
// partition. Two settings can give the one stream the durations of a partition's stream: SameSteps, null if it would be
// too large, and SameBatch.
type Streams struct {
	Partitions int           `json:"partitions"`
	WholeTopic bool          `json:"whole_topic"`
	Topic      Lengths       `json:"topic"`
	Partition  Lengths       `json:"partition"`
	OrderBytes digits.Number `json:"order_log_bytes_a_day"` // daily bytes on each replica of the order topic
	// number of steps with which the one stream's window, memory or horizon lasts as long as a partition's
	SameSteps digits.Number `json:"steps_of_same_length"`
	SameBatch uint64        `json:"batch_of_same_length"`

	setting     string // name of the setting that SameSteps is for; "": the mechanism has no length
	terms       protection.Terms
	batch       uint64
	most        uint64 // upper bound for SameSteps
	separations bool   // the one stream's index can hold users with the separation of a partition's stream
}

// Lengths are durations in seconds; a duration that the setting does not have is null.
type Lengths struct {
	EventsPerSecond digits.Number `json:"events_per_second"`
	Step            digits.Number `json:"step_seconds"`
	Window          digits.Number `json:"window_seconds"`
	Memory          digits.Number `json:"memory_seconds"`
	Life            digits.Number `json:"life_seconds"`
	Separation      digits.Number `json:"separation_seconds"`
}

// StreamsOf returns the durations for an input of several partitions, or nil for any other input. With steps by the
// clock it is nil too, because a step then lasts as long in any stream.
func StreamsOf(c mechanisms.Config, p Partitions) *Streams {
	if p.Count < 2 || !(p.Rate > 0) || !p.Clock.Counts() {
		return nil
	}
	count := uint64(p.Count)
	scope := c.Scope.Figures()
	s := &Streams{
		Partitions: p.Count, WholeTopic: p.WholeTopic, OrderBytes: digits.Number(p.orderBytes()), SameSteps: digits.None,
		SameBatch: opened.Times(c.Batch, count), terms: c.Terms, batch: c.Batch,
		separations: users.Validate(max(1, c.Unit.Figures().Separation), opened.Times(c.Batch, count)) == nil,
	}
	s.Topic, s.Partition = s.lengths(p.Rate), s.lengths(p.Rate/float64(count))
	var steps uint64
	switch {
	case scope.Memory > 0:
		s.setting, steps, s.most = "ORIEL_MEMORY", scope.Memory, decay.MaxMemory
	case scope.Horizon > 0:
		s.setting, steps, s.most = "ORIEL_HORIZON", scope.Horizon, opened.FactsOf(c.Name).MaxWindow
	case scope.Window > 0:
		s.setting, steps, s.most = "ORIEL_WINDOW", scope.Window, opened.FactsOf(c.Name).MaxWindow
	}
	if same := opened.Times(steps, count); steps > 0 && same <= s.most {
		if opened.FactsOf(c.Name).AtNodes() && scope.Horizon == 0 {
			same = 1 << bits.Len64(same-1) // the window of a tree is a power of two
		}
		s.SameSteps = digits.Number(same)
	}
	return s
}

func (s *Streams) lengths(rate float64) Lengths {
	step := float64(s.batch) / rate
	of := func(steps uint64) digits.Number {
		if steps == 0 {
			return digits.None
		}
		return digits.Number(float64(steps) * step)
	}
	scope := s.terms.Scope.Figures()
	return Lengths{
		EventsPerSecond: digits.Number(rate), Step: digits.Number(step), Window: of(scope.Window), Memory: of(scope.Memory),
		Life: of(scope.Horizon), Separation: of(s.terms.Unit.Figures().Separation),
	}
}

// Title returns the title of the table of Rows.
func (s *Streams) Title() string {
	return fmt.Sprintf("One stream of %d partitions, or %d streams: %s events a second in all",
		s.Partitions, s.Partitions, digits.Four(s.Topic.EventsPerSecond))
}

// Rows returns the durations as a table.
func (s *Streams) Rows() *digits.Table {
	g := &digits.Table{}
	topic, partition := "ORIEL_STREAM=topic", "* =partition"
	if s.WholeTopic {
		topic, partition = "* "+topic, "=partition"
	}
	g.Add("", topic, partition)
	g.Add("  events a second of a stream",
		digits.Four(s.Topic.EventsPerSecond), digits.Four(s.Partition.EventsPerSecond))
	add := func(name string, topic, partition digits.Number) {
		if topic.Known() {
			g.Add("  "+name, digits.Duration(float64(topic)), digits.Duration(float64(partition)))
		}
	}
	scope := s.terms.Scope.Figures()
	add("a step, "+digits.Counted(s.batch, "event"), s.Topic.Step, s.Partition.Step)
	add(fmt.Sprintf("the window, %s steps", digits.Count(scope.Window)), s.Topic.Window, s.Partition.Window)
	add(fmt.Sprintf("the memory, %s steps", digits.Count(scope.Memory)), s.Topic.Memory, s.Partition.Memory)
	add(fmt.Sprintf("the life, %s steps", digits.Count(scope.Horizon)), s.Topic.Life, s.Partition.Life)
	add(fmt.Sprintf("between two events of a user, %s steps", digits.Count(s.terms.Unit.Figures().Separation)),
		s.Topic.Separation, s.Partition.Separation)
	g.Add("  the order log, a day and replica", digits.Bytes(uint64(s.OrderBytes)), "–")
	return g
}

// Advice returns text about the settings that give the one stream the durations of a partition's stream.
func (s *Streams) Advice() string {
	var b strings.Builder
	fmt.Fprintf(&b, "One stream closes %d times as many steps as each of %d streams does", s.Partitions, s.Partitions)
	batch := "ORIEL_BATCH=" + strconv.FormatUint(s.SameBatch, 10)
	switch {
	case s.setting == "":
		fmt.Fprintf(&b, ".\nWith %s it closes as many as one of them does, and each has %d times the events.\n", batch, s.Partitions)
	case s.SameSteps.Known():
		fmt.Fprintf(&b, ", so %s covers less time.\nTo cover as much time as a partition's stream does, set %s=%.0f, which "+
			"costs a little more noise, or %s, which publishes fewer decisions.\n",
			s.setting, s.setting, float64(s.SameSteps), batch)
	default:
		fmt.Fprintf(&b, ", so %s covers less time.\nTo cover as much time as a partition's stream does, set %s, which publishes "+
			"fewer decisions, because %s is at most %d.\n", s.setting, batch, s.setting, s.most)
	}
	if s.Topic.Separation.Known() && !s.separations {
		fmt.Fprintf(&b, "Events of a user cannot be kept as far apart in time, because "+
			"ORIEL_BATCH × ORIEL_USER_SEPARATION is at most %d for the whole topic, %s.\n",
			uint64(users.MaxRemembered), digits.Duration(float64(users.MaxRemembered)/float64(s.Topic.EventsPerSecond)))
	}
	return b.String()
}

// Partitions describes an input topic whose partitions form one stream together, or one stream each.
type Partitions struct {
	Count      int           // number of partitions; 0: unknown
	Rate       float64       // events per second of all partitions together
	WholeTopic bool          // all partitions form one stream
	Interval   time.Duration // time between commits, each of which writes an order record with steps by count
	Clock      steps.Clock   // steps by the clock; zero: by count
}

// Of returns the rate of one stream as the settings configure it.
func (p Partitions) Of() float64 {
	if p.WholeTopic {
		return p.Rate
	}
	return p.Rate / float64(max(1, p.Count))
}

// orderBytes returns the daily growth of the order log in bytes, with steps by count.
func (p Partitions) orderBytes() float64 {
	record, entry := orderRecord()
	tick := moved(p.Rate*p.Interval.Seconds())*record + p.Moved(p.Interval)*entry
	return tick * (24 * time.Hour).Seconds() / p.Interval.Seconds()
}

// SlotBytes returns the daily growth of the order log in bytes with steps by the clock. A record closes each slot, with
// an entry for each partition that received an event in it: idle is of records without entries, entry is what a
// partition with events in every slot adds.
func (p Partitions) SlotBytes() (idle, entry float64) {
	record, of := orderRecord()
	slots := (24 * time.Hour).Seconds() / order.Slot.Seconds()
	return slots * record, slots * of
}

// Moved returns how many partitions receive an event in an interval, on average. If events are independent, the
// probability of each is 1 − exp(−rate·interval/P).
func (p Partitions) Moved(interval time.Duration) float64 {
	partitions := float64(p.Count)
	return partitions * moved(p.Rate*interval.Seconds()/partitions)
}

func moved(events float64) float64 { return -math.Expm1(-events) }

// orderRecord returns the bytes of an order record without entries, in a batch of its own, and those of an entry.
func orderRecord() (record, entry float64) {
	const batchBytes, recordBytes = 61, 8       // bytes of a record with an empty value in a batch of one record (KIP-98)
	bytes := func(entries ...order.Entry) int { // a slot of this century, and an end from 2²⁸ to 2³⁵, take five bytes
		return len(order.Log{}.Append(nil, order.Record{Slot: 1 << 31, Entries: entries}))
	}
	first := order.Entry{Partition: 0, End: 1 << 34, Epoch: 100}
	second := order.Entry{Partition: 1, End: 1 << 34, Epoch: 100}
	one := bytes(first)
	each := bytes(first, second) - one
	return float64(batchBytes + recordBytes + one - each), float64(each)
}
