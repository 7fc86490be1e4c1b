package notice

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/state"
)

func TestKindOfEachError(t *testing.T) {
	f := func(err error, want ErrorKind) {
		t.Helper()
		if got := Kind(fmt.Errorf("pipeline: partition 3: %w", err)); got != want {
			t.Errorf("Kind(%v) = %d, want %d", err, got, want)
		}
	}
	f(&StopError{Partition: 3}, Stopped)
	f(errors.Join(errors.New("x"), &StopError{Partition: 3}), Stopped)
	f(kafka.ErrOffsetOutOfRange, Stopped)
	f(records.ErrFormat, Stopped)
	f(kafkago.MessageSizeTooLarge, Stopped)
	f(kafkago.ProducerFenced, Lost)
	f(kafkago.IllegalGeneration, Lost)
	f(kafka.ErrBroken, Retry)
	f(kafkago.LeaderNotAvailable, Retry)
	f(context.DeadlineExceeded, Retry)
	f(context.Canceled, Finished)
	f(state.ErrFailed, Stopped)
	f(errors.New("connection reset by peer"), Retry)
}

func TestStopErrorHasPlaceReasonCauseAndRemedy(t *testing.T) {
	err := &StopError{Partition: 3, Reason: "offsets were reset", Remedy: "Set them back", Cause: errors.New("cause")}
	for _, want := range []string{"partition 3", "offsets were reset", "cause", "Set them back"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if text := (&StopError{Partition: -1, Reason: "r", Remedy: "m"}).Error(); !strings.Contains(text, "deployment") {
		t.Errorf("%q does not name the deployment", text)
	}
}
