package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

var (
	// ErrTopicExists is the error of topics.Create for an existing topic.
	ErrTopicExists = errors.New("kafka: topic exists")

	// ErrOffsetOutOfRange is the error of a fetch before the log's start or after its end: retention or truncation.
	// There is no automatic reset.
	ErrOffsetOutOfRange = errors.New("kafka: offset out of range")

	// ErrTopicRecreated is the error of reading a topic that was deleted, and perhaps created again. The name may now
	// belong to another log.
	ErrTopicRecreated = errors.New("kafka: topic deleted or made again")

	// ErrTruncated is the error of a log that lost records after they were read: by an unclean leader election, or by
	// storage that went back in time. The new records of the log belong to another history.
	ErrTruncated = errors.New("kafka: log truncated below the offset already read")

	// ErrHole is the error of a log without a record at some offset between others, for a reader that needs every record
	// (fetch.Options.Whole): brokers have compacted the log.
	ErrHole = errors.New("kafka: log without some of its records")

	// ErrBroken is the error of a producer whose last request may have been done or not. Its owner must make another
	// producer, which ends the open transaction, and then read which records were committed.
	ErrBroken = errors.New("kafka: producer broken by an unknown outcome")

	// ErrGroupClosed is the error of group.Member.Next after Close.
	ErrGroupClosed = errors.New("kafka: group closed")
)

// Code is an error code of the Kafka protocol.
type Code = kafkago.Error

// Class is the reaction that an error asks of the caller.
type Class uint8

// The classes. Methods retry by themselves; callers get an error of class Retry only when ctx or a time limit ended the
// attempts.
const (
	Retry   Class = iota + 1 // nothing was done: repeat it later
	Fenced                   // another owner or generation has taken over: close the task and send nothing
	Unknown                  // the request may have been done: start a new producer and read the state back from the log
	Fatal                    // every repetition fails: stop and report why
)

// Classify returns the class of any error of this folder; nil has none. It is the only function that classifies errors.
func Classify(err error) Class {
	var code Code
	isCode := errors.As(err, &code)
	switch {
	case err == nil:
		return 0
	case isCode && fenced(code): // before the other cases, because a broken producer with a successor counts as fenced
		return Fenced
	case errors.Is(err, ErrBroken):
		return Unknown
	case Transient(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Retry
	}
	return Fatal
}

// fenced reports whether a broker's code tells a producer or member that it is no longer the owner.
func fenced(code Code) bool {
	switch code {
	case kafkago.InvalidProducerEpoch, kafkago.ProducerFenced, kafkago.TransactionCoordinatorFenced,
		kafkago.IllegalGeneration, kafkago.UnknownMemberId, kafkago.RebalanceInProgress, kafkago.FencedInstanceID:
		return true
	case kafkago.InvalidTransactionState:
		// The embedded broker answers a fenced producer with this code. Real brokers send it only to fenced producers,
		// too, because Producer never sends outside a transaction.
		return true
	default:
		return false
	}
}

// TooLarge reports whether a produce request was refused because its batch is larger than the topic allows.
func TooLarge(err error) bool {
	return errors.Is(err, kafkago.MessageSizeTooLarge) || errors.Is(err, kafkago.RecordListTooLarge)
}

// Transient reports whether the same request may succeed later.
func Transient(err error) bool {
	if _, refused := errors.AsType[*RefusedError](err); refused {
		return false
	}
	var code Code
	if errors.As(err, &code) {
		switch code {
		case kafkago.InvalidMessage, // the broker found a wrong CRC: bytes were damaged on the way
			kafkago.BrokerNotAvailable, kafkago.ReplicaNotAvailable, kafkago.ConcurrentTransactions:
			return true
		case kafkago.GroupSubscribedToTopic, kafkago.ElectionNotNeeded, kafkago.NoReassignmentInProgress:
			return false
		default:
			return code.Temporary()
		}
	}
	for _, final := range []error{
		ErrTopicExists, ErrOffsetOutOfRange, ErrTopicRecreated, ErrTruncated, ErrHole, records.ErrFormat, ErrBroken,
		ErrGroupClosed, errVersion, ErrUsage, records.ErrCodec, memory.ErrNoRoom,
	} {
		if errors.Is(err, final) {
			return false
		}
	}
	return true // network errors, truncated answers and damaged batches
}

// staleLayout reports whether the cached cluster layout may be out of date. A network error counts, because the broker
// may be gone.
func staleLayout(err error) bool {
	var code Code
	if !errors.As(err, &code) {
		return true
	}
	switch code {
	case kafkago.UnknownTopicOrPartition, kafkago.LeaderNotAvailable, kafkago.NotLeaderForPartition,
		kafkago.BrokerNotAvailable, kafkago.ReplicaNotAvailable, kafkago.NotCoordinatorForGroup, kafkago.KafkaStorageError,
		kafkago.FencedLeaderEpoch, kafkago.UnknownLeaderEpoch, kafkago.NotController, kafkago.ListenerNotFound,
		kafkago.UnknownTopicID, kafkago.InconsistentTopicID:
		return true
	default:
		return false
	}
}

// errVersion marks a broker that does not support a required version of an API.
var errVersion = errors.New("broker too old")

// ErrUsage marks a call that breaks this package's contract, or an answer that no retry can change.
var ErrUsage = errors.New("not possible")

// CodeError returns the error of a code; or nil for code 0.
func CodeError(code int16) error {
	if code == 0 {
		return nil
	}
	return Code(code)
}

// DeniedError names the right that the client's user lacks. An ACL on the brokers grants it.
type DeniedError struct {
	Right string // name of the right in ACLs, for example DESCRIBE_CONFIGS
	On    string // kind of the resource, for example topic; the operation and the cause name the resource
	Cause error
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("the client's user has no right %s on the %s: %v", e.Right, e.On, e.Cause)
}

// Unwrap returns the broker's answer.
func (e *DeniedError) Unwrap() error { return e.Cause }

// rights lists the ACL operations that brokers require on a topic and on a group, by the first words of the client
// operation's name. All other operations need DESCRIBE. Every operation of a producer with a transactional id needs
// WRITE on that id.
var rights = []struct{ operation, topic, group string }{
	{"settings of topic ", "DESCRIBE_CONFIGS", ""},
	{"create topic ", "CREATE", ""},
	{"add partitions to topic ", "ALTER", ""},
	{"alter topic ", "ALTER_CONFIGS", ""},
	{"delete ", "DELETE", ""},
	{"fetch ", "READ", ""},
	{"produce to ", "WRITE", ""},
	{"append to ", "WRITE", ""},
	{"begin ", "WRITE", ""},
	{"commit offset ", "READ", "READ"},
	{"set offset ", "READ", "READ"},
	{"add offsets ", "", "READ"},
	{"join group ", "", "READ"},
}

// lacking returns a DeniedError if an operation failed because a right or a login is missing; it returns any other
// error unchanged.
func lacking(operation string, err error) error {
	wants := struct{ topic, group string }{"DESCRIBE", "DESCRIBE"}
	for _, r := range rights {
		if strings.HasPrefix(operation, r.operation) {
			wants.topic, wants.group = r.topic, r.group
		}
	}
	denied := func(right, on string) error { return &DeniedError{Right: right, On: on, Cause: err} }
	switch {
	case errors.Is(err, kafkago.TopicAuthorizationFailed):
		return denied(wants.topic, "topic")
	case errors.Is(err, kafkago.GroupAuthorizationFailed):
		return denied(wants.group, "group")
	case errors.Is(err, kafkago.TransactionalIDAuthorizationFailed):
		return denied("WRITE", "transactional id")
	case errors.Is(err, kafkago.SASLAuthenticationFailed), errors.Is(err, kafkago.UnsupportedSASLMechanism):
		return &RefusedError{Why: LoginRefused, Cause: err}
	}
	return err
}
