package notice

import (
	"time"

	"oriel/mechanisms/protection"
	"oriel/schemas"
)

// TaskState is the public state of one partition's task.
type TaskState string

// The states of a task, in the order in which it passes them.
const (
	Restoring TaskState = "restoring"
	Running   TaskState = "running"
	Halted    TaskState = "stopped"
)

// Standby is the state of a process that has no partition, beside a deployment of one stream.
type Standby string

// The states of standing by, in the order in which a process passes them.
const (
	NoStandby Standby = ""        // it has a partition, or there are several streams
	Copying   Standby = "copying" // the changelog to its local store
	Warm      Standby = "warm"    // the local store has what the changelog had a moment ago
)

// Commit describes one committed transaction in public numbers only: counts and times, never content.
type Commit struct {
	Partition int32
	Records   int           // input records taken, valid or not
	Steps     uint64        // steps closed
	Decisions int           // decisions made readable
	Lag       int64         // records between the committed position and the end of the input
	Duration  time.Duration // from the first request of the transaction to its acknowledged end
}

// Decided is a committed decision.
type Decided struct {
	Stream      string
	Index, Step uint64
	Point       []float64 // the listener's own
	Extras      []schemas.ExtraMember
}

// Point is a place in a transaction or a take-over where a crash must do no harm. Tests kill the process there.
type Point string

// The places that tests stop at.
const (
	PointFenced   Point = "fenced"    // earlier owners fenced, nothing read or opened
	PointRestored Point = "restored"  // state restored or opened, nothing fetched
	PointProduced Point = "produced"  // all records of a transaction acknowledged, not committed
	PointEnded    Point = "committed" // transaction committed, local store behind
)

// Ending is the work that a service left undone when it was told to end.
type Ending struct {
	Committed bool // all that was computed is known to be committed; if not, whoever takes over computes the rest again
	Left      bool // the group was told; if not, the partitions are free after the session timeout
}

// Listener holds functions that tasks call from their own goroutines: each must be quick and safe for concurrent use.
// A nil function is not called.
type Listener struct {
	Assigned  func(partitions []int32) // a generation of the group begins
	Committed func(Commit)
	Aborted   func(partition int32)

	// Decided is called after a commit that published decisions, with the newest one of the first topic: metrics and
	// pages are for everyone who reads that topic. While it and Published are nil, no transaction keeps its newest
	// decision.
	Decided func(partition int32, newest Decided)
	// Published is called with the published bytes of the same decision, which are valid during the call. Parsing a
	// large decision costs as much as making it.
	Published func(partition int32, newest []byte)
	State     func(partition int32, s TaskState)
	Proves    func(partition int32, g protection.Guarantee) // the stream is taken over; its frozen params prove g
	Holds     func(partition int32, bytes int)              // the state is in memory, so large; it does not grow
	Opening   func(partition int32, from int64)             // its first incarnation will be opened, at an offset
	Opened    func(partition int32)                         // the partition's first incarnation was opened
	Closed    func(partition int32)                         // the partition was handed over
	Standby   func(Standby)                                 // what the process does that has no partition, when it changes
	// Waits is called when the stream of a whole topic begins or ceases to wait for a partition of the input: the
	// records of that partition are next in the order, and it has no leader, or its leader does not have them yet.
	Waits func(partition, input int32, waits bool)
	// Refused is called for each record of the order log that this deployment did not write.
	Refused func(partition int32)
	// Behind is called between commits with the number of records between the committed position and the end of the
	// input.
	Behind    func(partition int32, lag int64)
	Restarted func(partition int32, err error) // the task takes its partition over again after err
	Reached   func(partition int32, p Point)
	Stopped   func(partition int32, err error)   // the partition is parked; err says why and what to do
	Note      func(partition int32, text string) // an event a person should see once; never holds payload
	Members   func(problems []string)            // what is wrong with the group's members, when it changes; none: all well
	// Versions is called with the members of another version of Oriel, when they change. They are no fault.
	Versions func(members []string)
	// Doubted is called with a problem of the deployment's topics that is looked at again before it is believed, and
	// with nil when it was refuted.
	Doubted func(problem error)
	// Partitions is called with the number of partitions of the input and of streams (one each, or 1), at the start and
	// when partitions were added.
	Partitions func(input, streams int)
	Ended      func(Ending) // the service was told to end, and has
}

// EnsureDefaults sets each nil function to one that does nothing, so that all but Decided and Published can be called.
func (l *Listener) EnsureDefaults() {
	if l.Assigned == nil {
		l.Assigned = func([]int32) {}
	}
	if l.Committed == nil {
		l.Committed = func(Commit) {}
	}
	if l.Aborted == nil {
		l.Aborted = func(int32) {}
	}
	if l.State == nil {
		l.State = func(int32, TaskState) {}
	}
	if l.Proves == nil {
		l.Proves = func(int32, protection.Guarantee) {}
	}
	if l.Holds == nil {
		l.Holds = func(int32, int) {}
	}
	if l.Opening == nil {
		l.Opening = func(int32, int64) {}
	}
	if l.Opened == nil {
		l.Opened = func(int32) {}
	}
	if l.Closed == nil {
		l.Closed = func(int32) {}
	}
	if l.Standby == nil {
		l.Standby = func(Standby) {}
	}
	if l.Waits == nil {
		l.Waits = func(int32, int32, bool) {}
	}
	if l.Refused == nil {
		l.Refused = func(int32) {}
	}
	if l.Behind == nil {
		l.Behind = func(int32, int64) {}
	}
	if l.Restarted == nil {
		l.Restarted = func(int32, error) {}
	}
	if l.Reached == nil {
		l.Reached = func(int32, Point) {}
	}
	if l.Stopped == nil {
		l.Stopped = func(int32, error) {}
	}
	if l.Note == nil {
		l.Note = func(int32, string) {}
	}
	if l.Members == nil {
		l.Members = func([]string) {}
	}
	if l.Versions == nil {
		l.Versions = func([]string) {}
	}
	if l.Doubted == nil {
		l.Doubted = func(error) {}
	}
	if l.Partitions == nil {
		l.Partitions = func(int, int) {}
	}
	if l.Ended == nil {
		l.Ended = func(Ending) {}
	}
}

// KeepsNewest reports whether transactions must keep their newest decision.
func (l Listener) KeepsNewest() bool { return l.Decided != nil || l.Published != nil }

// DecidedLine calls Decided and Published with the newest decision of a transaction, as a line; empty: there is none.
func (l Listener) DecidedLine(partition int32, newest []byte) {
	if len(newest) == 0 {
		return
	}
	if l.Published != nil {
		l.Published(partition, newest)
	}
	if l.Decided == nil {
		return
	}
	if d, err := schemas.ParseDecision(newest); err == nil { // always: it is ours
		l.Decided(partition, Decided{Stream: d.Stream, Index: d.Index, Step: d.Step, Point: d.Point, Extras: d.Extras})
	}
}
