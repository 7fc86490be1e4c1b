package clock

import (
	"fmt"
	"strings"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/steps"
)

// Title returns the title of Text.
func (r *Report) Title() string {
	return fmt.Sprintf("Steps by the clock: %s each, %s", digits.Duration(float64(r.Step)), counted(r.Decisions))
}

func counted(aDay digits.Number) string {
	if aDay < 1 {
		return "one decision in " + digits.Duration(float64(steps.Day)/float64(aDay))
	}
	return digits.Four(aDay) + " decisions a day"
}

// Text returns the report as readable text, without the losses of a user (Rows).
func (r *Report) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	opened := "a stream opened now"
	if r.First.Named {
		opened = "the stream, by ORIEL_START"
	}
	line("first step of %s: %d, from %s to %s; its decision is published at %s", opened, r.First.Step,
		r.First.Begin.Format(time.RFC3339), r.First.End.Format(time.RFC3339), r.First.Decision.Format(time.RFC3339))
	line("every step has one decision, with or without events, and no decision says how many there were")
	line("add/remove ε = %s is at most %s in terms of exchange, of one %s for another: it is the field's usual definition",
		digits.Upper(r.in.Guarantee.Epsilon), digits.Upper(r.Exchange), r.in.Guarantee.Unit.Name())
	order := fmt.Sprintf("order log: %s a day and replica when idle, and %s for each partition with records in every second",
		size(r.OrderIdle), size(r.OrderEntry))
	if r.OrderBytes.Known() {
		order += fmt.Sprintf("; %s at this rate in %d partitions", size(r.OrderBytes), r.in.Partition.Count)
	}
	line("%s. Keep it as long as the input", order)
	b.WriteString(r.afterOutage())
	if r.Period != nil {
		line("memory: up to %d bytes for each user of a period, in addition to ORIEL_MEMORY_LIMIT: %s for a million users",
			r.Period.Memory, size(digits.Number(r.Period.Memory)*1e6))
	}
	line("Set message.timestamp.type=LogAppendTime on the input. Otherwise all records that come during an outage are in one step,")
	line("and a record is in the step in which the order log finds it, up to some seconds after it came.")
	return b.String()
}

// afterOutage says what an hour without a running service costs.
func (r *Report) afterOutage() string {
	text := fmt.Sprintf("an hour of outage costs afterwards %s", digits.Counted(int(r.Outage.Decisions), "decision"))
	if r.Outage.Bytes.Known() {
		text += ", " + size(r.Outage.Bytes)
	}
	if r.Outage.Seconds.Known() {
		text += fmt.Sprintf(", and about %s on the machine of deploy/bench/RESULTS.md, without the brokers' time",
			digits.Duration(max(1, float64(r.Outage.Seconds))))
	}
	return text + "\n"
}

func size(bytes digits.Number) string { return digits.Bytes(uint64(bytes)) }

// PeriodTitle returns the title of Rows.
func (r *Report) PeriodTitle() string {
	return fmt.Sprintf("ε of all of a user's events in so many periods of %s, everything released", digits.Duration(float64(r.Period.Seconds)))
}

// Rows returns the losses of a user as a table.
func (r *Report) Rows() *digits.Table {
	g := &digits.Table{}
	head, row := []string{"  periods in which the user is active"}, []string{"* " + r.in.Guarantee.Mechanism}
	for _, a := range r.Period.Active {
		head, row = append(head, digits.Count(a.Periods)), append(row, digits.Upper(a.Epsilon))
	}
	g.Add(head...)
	g.Add(row...)
	if r.in.Guarantee.Told > 0 {
		deltas := []string{"  δ"}
		for _, a := range r.Period.Active {
			deltas = append(deltas, digits.Upper(a.Delta))
		}
		g.Add(deltas...)
	}
	return g
}
