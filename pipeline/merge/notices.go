package merge

import (
	"cmp"
	"time"
)

// Notices are the callbacks through which a Reader reports public facts. They must return quickly; a nil callback is
// not called.
type Notices struct {
	// Halted reports that no records of the range whose turn it is have arrived for HaltAfter, and later that they
	// arrive again. Its partition has no leader, or its leader does not have the range yet. Fetch calls Halted.
	Halted    func(partition int32, halted bool)
	HaltAfter time.Duration // wait before a notice; 0: 5 s, because most elections take less

	// Refused receives the offset of an order record that this deployment did not write. It is called concurrently with
	// Fetch.
	Refused func(record int64)
}

// halt records since when no records of the range whose turn it is have arrived.
type halt struct {
	number   int64
	since    time.Time
	reported bool
}

// Notify sets the callbacks of a Reader. It must be called BEFORE the first Fetch.
func (r *Reader) Notify(n Notices) {
	n.HaltAfter = cmp.Or(n.HaltAfter, 5*time.Second)
	if n.Halted == nil {
		n.Halted = func(int32, bool) {}
	}
	if n.Refused == nil {
		n.Refused = func(int64) {}
	}
	r.notices = n
}

// waits notes that Fetch has found no records of the range whose turn it is.
func (r *Reader) waits(t orderRange) {
	now := time.Now()
	switch h := &r.halt; {
	case h.since.IsZero() || h.number != t.number:
		*h = halt{number: t.number, since: now}
	case !h.reported && now.Sub(h.since) >= r.notices.HaltAfter:
		h.reported = true
		r.notices.Halted(t.Partition, true)
	}
}

// goesOn notes that Fetch has found records of a range.
func (r *Reader) goesOn(t orderRange) {
	if r.halt.reported {
		r.notices.Halted(t.Partition, false)
	}
	r.halt = halt{}
}
