package notice

import (
	"errors"
	"reflect"
	"slices"
	"strings"
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
	Time      time.Time     // timestamp of the decisions' records
	Lag       int64         // number of offsets between the committed position and the end of the input
	Duration  time.Duration // from the first request of the transaction to its acknowledged end
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
	// metrics and pages are for all readers of this topic. Listeners must not change the decision. If Decided is nil,
	// transactions do not keep their newest decision.
	Decided func(partition int32, newest *decision.Decision)
	State   func(partition int32, s TaskState)
	Proves  func(partition int32, g protection.Guarantee) // the stream is taken over; its frozen params prove g
	Holds   func(partition int32, state, users int)       // the state's constant size, and the memory of users, bytes
	Opening func(partition int32, from int64)             // the first incarnation will be opened, at this offset or Hidden
	Opened  func(partition int32)                         // the stream's first incarnation was opened
	Closed  func(partition int32)                         // the partition was handed over
	Standby func(Standby)                                 // the process has begun or ended to stand by
	// DiskFull is called with true when the local store waits for room on its disk, and again while it waits, and with
	// false afterwards.
	DiskFull func(full bool)
	// Waits is called when the stream of a whole topic begins or ends to wait for a partition of the input. Records of
	// this partition are next in the order, but it has no leader, or its leader does not have them yet.
	Waits func(partition, input int32, waits bool)
	// Refused is called for each record of the order log that this deployment did not write.
	Refused func(partition int32)
	// Void is called for each order record that does not count, with the time for which none has counted, and with 0 when
	// one counts again.
	Void func(partition int32, last time.Duration)
	// Behind is called between commits with the number of records between the committed position and the end of the
	// input.
	Behind    func(partition int32, lag int64)
	Restarted func(partition int32, err error) // the task takes its partition over again; err is limited by Audience.Error
	Reached   func(partition int32, p Point)
	Stopped   func(partition int32, err error) // the partition waits for a person; err has reason and remedy
	// Note is called with a message that a person should see once. It must hold no payload. text must not depend on
	// records, because every Audience sees it. detail goes on from text, and may have counts and places of records; it may
	// be empty. Without text the message depends on records as a whole.
	Note func(partition int32, text, detail string)
	// Members is called with the members of the group that do not belong to the deployment, and with the partitions that
	// no member of the deployment has, when either changes. Foreign members alone take nothing away.
	Members func(foreign, problems []string)
	// Doubted is called with a problem of the deployment's topics that must be found again before it counts, and with
	// nil when a later check did not find it.
	Doubted func(problem error)
	// Partitions is called with the number of partitions of the input and of streams (as many, or 1), at the start and
	// when partitions were added.
	Partitions func(input, streams int)
	Ended      func(Ending) // the service has ended as requested
}

// EnsureDefaults sets each nil function to one that does nothing, except Decided, so that all others can be called.
func (l *Listener) EnsureDefaults() { FillNil(l, "Decided") }

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

// Audience says who sees the metrics, the pages and the log of a process.
type Audience string

// The audiences.
const (
	Readers   Audience = "readers"   // people who read decisions, and must not learn more of records than decisions say
	Operators Audience = "operators" // people who see the brokers, and so the number of records and their times
)

// Limit returns a listener that tells l only what the audience may see. It is the only place that decides this: all
// metrics, pages and log lines about the work of a service come from the listener.
//
// Readers hear of decisions, of the steps that they close, and of processes and topics. They hear of no transaction
// that closes no step, because it only saves what records have changed.
func (a Audience) Limit(l Listener) Listener {
	l.EnsureDefaults()
	if a == Operators {
		return l
	}
	public := l
	public.Committed = func(c Commit) {
		if c.Steps > 0 || c.Decisions > 0 {
			l.Committed(Commit{Partition: c.Partition, Steps: c.Steps, Decisions: c.Decisions, Time: c.Time})
		}
	}
	public.Note = func(p int32, text, _ string) {
		if text != "" {
			l.Note(p, text, "")
		}
	}
	public.Opening = func(p int32, _ int64) { l.Opening(p, Hidden) }
	public.Restarted = func(p int32, err error) { l.Restarted(p, a.Error(err)) }
	public.Stopped = func(p int32, err error) { l.Stopped(p, a.Error(err)) }
	public.Doubted = func(err error) { l.Doubted(a.Error(err)) }
	public.Aborted, public.Waits, public.Behind, public.Void, public.Refused = nil, nil, nil, nil, nil
	public.Holds, public.Reached, public.DiskFull = nil, nil, nil
	public.EnsureDefaults()
	return public
}

// partitionOperations begin the names of requests for partitions that are asked only if they have records.
var partitionOperations = []string{"fetch", "bounds of ", "epochs of ", "ends of ", "end of epoch "}

// HearsOf reports whether the audience may hear that an operation is tried again and again, and why. Readers do not
// hear of requests for partitions of the input, because these name partitions that may have records.
func (a Audience) HearsOf(operation string) bool {
	return a == Operators || !slices.ContainsFunc(partitionOperations, func(is string) bool {
		return strings.HasPrefix(operation, is)
	})
}

// Error returns err for operators. For readers it returns an error that says where the reason is shown, unless err is a
// StopError that is public: the reason may have offsets, or be there only because there are records. errors.Is and
// errors.As find err in both.
func (a Audience) Error(err error) error {
	var stop *StopError
	if a == Operators || err == nil || errors.As(err, &stop) && stop.Public {
		return err
	}
	return hidden{err}
}

// hidden is an error whose text the audience must not see.
type hidden struct{ error }

func (hidden) Error() string {
	return "the reason may depend on records: `oriel doctor` looks for it, and ORIEL_METRICS=operators shows it here"
}

func (h hidden) Unwrap() error { return h.error }

// Hidden is the value of an offset that the audience must not see.
const Hidden = -1
