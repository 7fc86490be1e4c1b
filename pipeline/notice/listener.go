package notice

import (
	"time"

	"oriel/mechanisms/protection"
	"oriel/schemas"
)

// TaskState is the public state of one partition's task.
type TaskState string

// The states of a task, in the order they are passed.
const (
	Restoring TaskState = "restoring"
	Running   TaskState = "running"
	Halted    TaskState = "stopped"
)

// Standby is what a process without a partition does for the one stream that there is.
type Standby string

// The states of a process that stands by, in the order they are passed.
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

// Ending is what a service that was told to end has left behind.
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

	// Decided hears, after a commit that published decisions, of the newest one. It hears of the first topic only:
	// metrics and pages are for all who read that one. While it and Published are nil, no transaction keeps its newest
	// decision.
	Decided func(partition int32, newest Decided)
	// Published hears of the same decision as the bytes that were published, which are valid during the call: decisions
	// can be large, and parsing each one costs as much as making it.
	Published func(partition int32, newest []byte)
	State     func(partition int32, s TaskState)
	Proves    func(partition int32, g protection.Guarantee) // the stream is taken over; its frozen params prove g
	Holds     func(partition int32, bytes int)              // the state is in memory, so large; it does not grow
	Opening   func(partition int32, from int64)             // its first incarnation will be opened, at an offset
	Opened    func(partition int32)                         // the partition's first incarnation was opened
	Closed    func(partition int32)                         // the partition was handed over
	Standby   func(Standby)                                 // what the process does that has no partition, when it changes
	// Waits hears that the stream of a whole topic waits for a partition of the input, or does so no more: its records are
	// next in the order, and it has no leader, or its leader does not have them yet.
	Waits func(partition, input int32, waits bool)
	// Refused hears of each record of the order log that this deployment did not write.
	Refused func(partition int32)
	// Behind hears, between commits, how many records lie between the committed position and the end of the input.
	Behind    func(partition int32, lag int64)
	Restarted func(partition int32, err error) // the task takes its partition over again after err
	Reached   func(partition int32, p Point)
	Stopped   func(partition int32, err error)   // the partition is parked; err says why and what to do
	Note      func(partition int32, text string) // an event a person should see once; never holds payload
	Members   func(problems []string)            // what is wrong with the group's members, when it changes; none: all well
	// Versions hears which members of the group are of another version of Oriel, when that changes: nothing is wrong.
	Versions func(members []string)
	// Doubted hears what seems to be wrong with the deployment's topics, while it is looked at again before it is
	// believed; nil when it was not so.
	Doubted func(problem error)
	// Partitions hears how many partitions the input has, and how many streams: one each, or 1. It is called at the start,
	// and when partitions were added.
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

// DecidedLine calls Decided and Published with the line of the newest decision of a transaction; an empty line stands
// for none.
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
