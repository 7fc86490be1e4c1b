package pipeline

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

// Listener is told what happens, from the task's own goroutines: its functions must be quick and safe for concurrent
// use. A nil function is not called.
type Listener struct {
	Assigned  func(partitions []int32) // a generation of the group begins
	Committed func(Commit)
	Aborted   func(partition int32)

	// Decided hears, after a commit that published decisions, of the newest one. It hears of the first topic only:
	// metrics and pages are for all who read that one.
	Decided   func(partition int32, newest Decided)
	State     func(partition int32, s TaskState)
	Proves    func(partition int32, g protection.Guarantee) // the stream is taken over; its frozen plan proves g
	Holds     func(partition int32, bytes int)              // the state is in memory, so large; it does not grow
	Opening   func(partition int32, from int64)             // its first incarnation will be opened, at an offset
	Opened    func(partition int32)                         // the partition's first incarnation was opened
	Closed    func(partition int32)                         // the partition was handed over
	Restarted func(partition int32, err error)              // the task takes its partition over again after err
	Reached   func(partition int32, p Point)
	Stopped   func(partition int32, err error)   // the partition is parked; err says why and what to do
	Note      func(partition int32, text string) // an event a person should see once; never holds payload
	Company   func(problems []string)            // what is wrong with the group's members, when it changes; none: all well
	// Versions hears which members of the group are of another version of Oriel, when that changes: nothing is wrong.
	Versions func(members []string)
	// Doubted hears what seems to be wrong with the deployment's topics, while it is looked at again before it is
	// believed; nil when it was not so.
	Doubted func(problem error)
	// Partitions hears how many partitions the input has: at the start, and when some were added.
	Partitions func(input int)
	Ended      func(Ending) // the service was told to end, and has
}

func (l Listener) assigned(partitions []int32) {
	if l.Assigned != nil {
		l.Assigned(partitions)
	}
}

func (l Listener) committed(c Commit) {
	if l.Committed != nil {
		l.Committed(c)
	}
}

func (l Listener) decided(partition int32, newest []byte) {
	if l.Decided == nil || len(newest) == 0 {
		return
	}
	if d, err := schemas.ParseDecision(newest); err == nil { // always: it is ours
		l.Decided(partition, Decided{Stream: d.Stream, Index: d.Index, Step: d.Step, Point: d.Point, Extras: d.Extras})
	}
}

func (l Listener) aborted(partition int32) {
	if l.Aborted != nil {
		l.Aborted(partition)
	}
}

func (l Listener) state(partition int32, s TaskState) {
	if l.State != nil {
		l.State(partition, s)
	}
}

func (l Listener) proves(partition int32, g protection.Guarantee) {
	if l.Proves != nil {
		l.Proves(partition, g)
	}
}

func (l Listener) holds(partition int32, bytes int) {
	if l.Holds != nil {
		l.Holds(partition, bytes)
	}
}

func (l Listener) opened(partition int32) {
	if l.Opened != nil {
		l.Opened(partition)
	}
}

func (l Listener) opening(partition int32, from int64) {
	if l.Opening != nil {
		l.Opening(partition, from)
	}
}

func (l Listener) closed(partition int32) {
	if l.Closed != nil {
		l.Closed(partition)
	}
}

func (l Listener) restarted(partition int32, err error) {
	if l.Restarted != nil {
		l.Restarted(partition, err)
	}
}

func (l Listener) stopped(partition int32, err error) {
	if l.Stopped != nil {
		l.Stopped(partition, err)
	}
}

func (l Listener) reached(partition int32, p Point) {
	if l.Reached != nil {
		l.Reached(partition, p)
	}
}

func (l Listener) note(partition int32, text string) {
	if l.Note != nil {
		l.Note(partition, text)
	}
}

func (l Listener) versions(members []string) {
	if l.Versions != nil {
		l.Versions(members)
	}
}

func (l Listener) doubted(problem error) {
	if l.Doubted != nil {
		l.Doubted(problem)
	}
}

func (l Listener) partitions(input int) {
	if l.Partitions != nil {
		l.Partitions(input)
	}
}

func (l Listener) ended(e Ending) {
	if l.Ended != nil {
		l.Ended(e)
	}
}

func (l Listener) company(problems []string) {
	if l.Company != nil {
		l.Company(problems)
	}
}
