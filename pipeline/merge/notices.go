package merge

import (
	"cmp"
	"time"
)

// Notices are what a Reader reports: public facts. Its functions must be quick; a nil one is not called.
type Notices struct {
	// Halted reports that the range whose turn it is has brought nothing for HaltAfter, and then that it has: its
	// partition has no leader, or its leader does not have the range yet. It is called by Fetch.
	Halted    func(partition int32, halted bool)
	HaltAfter time.Duration // 0: 5 s, which most elections take less than

	// Refused hears the offset of an order record that is not the deployment's. It is called beside Fetch.
	Refused func(record int64)
}

// halt is how long the range has brought nothing whose turn it is.
type halt struct {
	turn  int64
	since time.Time
	told  bool
}

// Notify sets what a Reader reports to. It must be called BEFORE the first Fetch.
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

// waits notes that Fetch has found nothing of the range whose turn it is.
func (r *Reader) waits(t turn) {
	now := time.Now()
	switch h := &r.halt; {
	case h.since.IsZero() || h.turn != t.number:
		*h = halt{turn: t.number, since: now}
	case !h.told && now.Sub(h.since) >= r.notices.HaltAfter:
		h.told = true
		r.notices.Halted(t.Partition, true)
	}
}

// goesOn notes that Fetch has found something of a range.
func (r *Reader) goesOn(t turn) {
	if r.halt.told {
		r.notices.Halted(t.Partition, false)
	}
	r.halt = halt{}
}
