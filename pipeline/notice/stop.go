package notice

import (
	"context"
	"errors"
	"fmt"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// ErrorKind says how a task reacts to an error.
type ErrorKind int

// The kinds of error a task can meet. The zero value is Retry: a retry after an unknown error is harmless, because it
// starts again from the committed state.
const (
	Retry    ErrorKind = iota // broker away, or a commit's status unknown: take the partition over again after a pause
	Lost                      // another member owns the partition: close without a message
	Stopped                   // continuing could break a guarantee: release nothing until a person acts
	Finished                  // the caller has ended the work
)

// StopError is the reason why a partition cannot continue, with the remedy. It must never hold payload.
type StopError struct {
	Partition int32  // input partition; −1: the whole deployment
	Reason    string // what was found
	Remedy    string // what a person should do
	Cause     error  // may be nil
	Loss      bool   // brokers have lost data; counts only if it is found again for some time (kafka.Doubt)
	Public    bool   // neither the error nor its text depends on records, so that every Audience may see it
}

func (e *StopError) Error() string {
	place := "deployment"
	if e.Partition >= 0 {
		place = fmt.Sprintf("partition %d", e.Partition)
	}
	text := fmt.Sprintf("pipeline: %s: %s", place, e.Reason)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text + ". " + e.Remedy
}

func (e *StopError) Unwrap() error { return e.Cause }

// OfLoss reports whether an error is about a loss, which a later check may refute.
func OfLoss(err error) bool {
	var stop *StopError
	return errors.As(err, &stop) && stop.Loss
}

// OfAll reports whether an error stops the whole deployment and not one partition.
func OfAll(err error) bool {
	var stop *StopError
	return errors.As(err, &stop) && stop.Partition < 0
}

// Kind returns the kind of an error. It is the only function that determines it.
func Kind(err error) ErrorKind {
	var stop *StopError
	switch {
	case errors.As(err, &stop), errors.Is(err, state.ErrFailed):
		return Stopped
	case errors.Is(err, context.Canceled):
		return Finished
	}
	switch kafka.Classify(err) {
	case kafka.Fenced:
		return Lost
	case kafka.Fatal:
		return Stopped
	case kafka.Retry, kafka.Unknown:
	}
	return Retry
}

// HorizonReached returns the StopError for a partition whose stream has reached its horizon. The input offset stays at
// the first record that was not taken.
func HorizonReached(partition int32, horizon uint64) error {
	return &StopError{
		Partition: partition,
		Reason:    fmt.Sprintf("the horizon is reached: the stream has closed all the %d steps that its guarantee is for, and an event follows", horizon),
		Remedy:    "Its decisions stand. For later events open a new deployment under another ORIEL_NAME with ORIEL_START=latest, or it takes the same events again, and their losses add; the losses of one user add in any case",
	}
}
