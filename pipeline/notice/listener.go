package notice

import (
	"reflect"
	"slices"
	"time"

	"oriel/mechanisms/protection"
	"oriel/schemas/decision"
)

// TaskState is the public state of one partition's task.
type TaskState string

// The states of a task, in the order in which it passes them.
const (
	Restoring TaskState = "restoring"
	Running   TaskState = "running"
	Halted    TaskState = "stopped"
)

// Standby is the state of a process without a partition, in a deployment of one stream.
type Standby string

// The states of standing by, in the order in which a process passes them.
const (
	NoStandby Standby = ""        // the process has a partition, or the deployment several streams
	Copying   Standby = "copying" // the process copies the changelog to its local store
	Warm      Standby = "warm"    // the local store has all of the changelog up to a moment ago
)

// Commit describes one committed transaction in public numbers only: counts and times, never content.
type Commit struct {
	Partition int32
	Records   int           // input records taken, valid or null
	Steps     uint64        // steps closed
	Decisions int           // decisions published
	Lag       int64         // number of offsets between the committed position and the end of the input
	Duration  time.Duration // from the first request of the transaction to its acknowledged end
}

// Decided is a committed decision, parsed.
type Decided struct {
	Stream      string
	Index, Step uint64
	Point       []float64 // the coordinates; the listener owns them
	Extras      []decision.ExtraMember
}

// Point is a point of a transaction or a take-over at which a crash must be harmless. Tests kill the process there.
type Point string

// The points at which tests stop.
const (
	PointFenced   Point = "fenced"    // earlier owners are fenced; nothing is read or opened
	PointRestored Point = "restored"  // the state is restored or opened; nothing is fetched
	PointProduced Point = "produced"  // all records of a transaction are acknowledged, but it is not committed
	PointEnded    Point = "committed" // the transaction is committed; the local store does not have it yet
)

// Ending describes how a service has ended after a request to stop.
type Ending struct {
	Committed bool // everything computed is known to be committed; otherwise the next owner computes the rest again
	Left      bool // the group has confirmed the leave; otherwise partitions become free after the session timeout
}

// Listener holds functions that tasks call from their own goroutines: each must be quick and safe for concurrent use.
// A nil function is not called.
type Listener struct {
	Assigned func(partitions []int32) // the group has given the process another share
	// Unassigned is called when this share ends, before its partitions are closed. It may be called more than once.
	Unassigned func()
	Committed  func(Commit)
	Aborted    func(partition int32)

	// Decided is called after a commit that published decisions, with the newest decision of the first topic, because
	// metrics and pages are for all readers of this topic. If Decided and Published are nil, transactions do not keep
	// their newest decision.
	Decided func(partition int32, newest Decided)
	// Published is called with the published bytes of the same decision, which are valid during the call. Parsing a
	// large decision costs as much as making it.
	Published func(partition int32, newest []byte)
	State     func(partition int32, s TaskState)
	Proves    func(partition int32, g protection.Guarantee) // the stream is taken over; its frozen params prove g
	Holds     func(partition int32, bytes int)              // the state is in memory and has this constant size
	Opening   func(partition int32, from int64)             // the first incarnation will be opened, at this offset
	Opened    func(partition int32)                         // the stream's first incarnation was opened
	Closed    func(partition int32)                         // the partition was handed over
	Standby   func(Standby)                                 // the process has begun or ended to stand by
	// Waits is called when the stream of a whole topic begins or ends to wait for a partition of the input. Records of
	// this partition are next in the order, but it has no leader, or its leader does not have them yet.
	Waits func(partition, input int32, waits bool)
	// Refused is called for each record of the order log that this deployment did not write.
	Refused func(partition int32)
	// Behind is called between commits with the number of records between the committed position and the end of the
	// input.
	Behind    func(partition int32, lag int64)
	Restarted func(partition int32, err error) // the task takes its partition over again because of err
	Reached   func(partition int32, p Point)
	Stopped   func(partition int32, err error)   // the partition waits for a person; err has reason and remedy
	Note      func(partition int32, text string) // a message that a person should see once; it must never hold payload
	// Members is called with the members of the group that do not belong to the deployment, and with the partitions that
	// no member of the deployment has, when either changes. Foreign members alone take nothing away.
	Members func(foreign, problems []string)
	// Versions is called with the members of another version of Oriel, when they change. Such members are not a
	// problem.
	Versions func(members []string)
	// Doubted is called with a problem of the deployment's topics that must be found again before it counts, and with
	// nil when a later check did not find it.
	Doubted func(problem error)
	// Partitions is called with the number of partitions of the input and of streams (as many, or 1), at the start and
	// when partitions were added.
	Partitions func(input, streams int)
	Ended      func(Ending) // the service has ended as requested
}

// EnsureDefaults sets each nil function to one that does nothing, except Decided and Published, so that all others can
// be called.
func (l *Listener) EnsureDefaults() { FillNil(l, "Decided", "Published") }

// FillNil sets each nil function of a struct of functions to one that does nothing, except those named in but.
func FillNil(listener any, but ...string) {
	functions := reflect.ValueOf(listener).Elem()
	for i := range functions.NumField() {
		if f := functions.Field(i); f.IsNil() && !slices.Contains(but, functions.Type().Field(i).Name) {
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { return nil }))
		}
	}
}

// Both returns a listener that calls each function of first, and then the same function of then. It has the defaults of
// EnsureDefaults.
func Both(first, then Listener) Listener {
	functions, others := reflect.ValueOf(&first).Elem(), reflect.ValueOf(then)
	for i := range functions.NumField() {
		f, next := functions.Field(i), others.Field(i)
		switch {
		case f.IsNil():
			f.Set(next)
		case !next.IsNil():
			own := reflect.ValueOf(f.Interface())
			f.Set(reflect.MakeFunc(f.Type(), func(arguments []reflect.Value) []reflect.Value {
				own.Call(arguments)
				return next.Call(arguments)
			}))
		}
	}
	first.EnsureDefaults()
	return first
}

// KeepsNewest reports whether transactions must keep their newest decision.
func (l Listener) KeepsNewest() bool { return l.Decided != nil || l.Published != nil }

// DecidedLine calls Decided and Published with the newest decision of a transaction, as a line; an empty line means no
// decision.
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
	if d, err := decision.Parse(newest); err == nil { // cannot fail, because this process has made the line
		l.Decided(partition, Decided{Stream: d.Stream, Index: d.Index, Step: d.Step, Point: d.Point, Extras: d.Extras})
	}
}
