package deadletters

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/logtest"
	"oriel/schemas/text"
)

func TestEveryVerdictHasItsLetter(t *testing.T) {
	e := newEnv(t)
	e.events(40)
	var verdicts []byte
	var want []string
	for v := range int(text.TooMany.Status()) + 1 {
		verdicts = append(verdicts, byte(v))
		if code, _ := text.CodeOfStatus(byte(v)); code != text.OK && code != text.Filtered {
			want = append(want, fmt.Sprintf("%d %s %d", v, code, v))
		}
	}
	e.row(0, verdicts...)
	e.check(e.run())
	e.wantWritten(strings.Join(want, ", "))
	e.check(e.run())
	e.wantWritten(strings.Join(want, ", "))
}

// wantNote checks that the last run made one note, and that the note contains text.
func (e *env) wantNote(text string) {
	e.t.Helper()
	if len(e.notes) != 1 || !strings.Contains(e.notes[0], text) {
		e.t.Errorf("notes %q, want one that says %q", e.notes, text)
	}
}

// TestRowsMayOverlap checks letters after a take-over that sent rows again, split at other offsets, because it did not
// know whether their transaction was committed.
func TestRowsMayOverlap(t *testing.T) {
	e := newEnv(t)
	e.events(20)
	e.row(0, bad, valid, bad)
	e.row(1, valid, bad)            // repeats known statuses
	e.row(2, bad, bad)              // the first status is known, the second is new
	e.row(0, bad, valid, bad, bad)  // repeats known statuses from the start
	e.row(3, bad, none, bad, valid) // overlaps known statuses
	e.check(e.run())
	const first = "0 json_syntax 0, 2 json_syntax 2, 3 json_syntax 3, 5 json_syntax 5"
	e.wantWritten(first)
	e.row(5, bad, valid, bad) // the next process continues after these
	e.check(e.run())
	e.wantWritten(first + ", 7 json_syntax 7")
}

func TestForeignRowsAreRefused(t *testing.T) {
	t.Run("incarnation", func(t *testing.T) {
		e := newEnv(t)
		e.events(20)
		e.row(0, bad)
		e.check(e.run())
		e.wantWritten("0 json_syntax 0")
		e.sealer = e.open() // another incarnation of the stream
		e.row(1, bad)
		e.refuses("at offset 1", "is no row of this partition's incarnation")
	})
	t.Run("foreign", func(t *testing.T) {
		e := newEnv(t)
		e.events(20)
		e.row(0, bad)
		e.append(e.deployment.Config.Verdicts, records.Record{Value: []byte("not a row")})
		e.refuses("at offset 1", "is no row")
	})
	t.Run("unknown verdict", func(t *testing.T) {
		e := newEnv(t)
		e.events(20)
		e.row(0, valid, 200)
		e.refuses("the verdict 200", "version")
	})
	t.Run("record that never was", func(t *testing.T) {
		e := newEnv(t)
		e.aborted("x")
		e.events(2)
		e.row(0, bad)
		e.refuses("took a record at offset 0", "the input has no record at this offset")
	})
}

// TestProcessEndsWhenEveryPartitionHasStopped checks that the process ends with the reason, and that it does not end
// while one partition still works.
func TestProcessEndsWhenEveryPartitionHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := simulated(t).with(deployment.Config{}, 1).opened()
		e.events(20)
		e.row(0, bad)
		written := make(chan Written, 1)
		ended := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		service := New(e.deployment, Options{Listen: Listener{Written: func(w Written) { written <- w }}})
		go func() { ended <- service.Run(ctx) }()
		if w := <-written; w.Letters != 1 || w.To != 1 {
			t.Errorf("%+v", w)
		}
		select {
		case err := <-ended:
			t.Fatalf("ended at the end of the verdicts: %v", err)
		case <-time.After(2 * commitPause):
		}
		e.append(e.deployment.Config.Verdicts, records.Record{Value: []byte("not a row")})
		if err := <-ended; err == nil || ctx.Err() != nil || notice.Kind(err) != notice.Stopped {
			t.Errorf("ended with %v", err)
		}
		e.wantWritten("0 json_syntax 0")
	})
}

// aborted sends one record in a transaction that aborts, which leaves two offsets without records.
func (e *env) aborted(value string) {
	e.t.Helper()
	producer, err := produce.New(e.t.Context(), e.client, "input", time.Minute)
	e.check(err)
	topic := e.deployment.Config.Input
	e.check(producer.Begin(e.t.Context(), []kafka.TopicPartition{{Topic: topic}}))
	var b records.Builder
	b.Append(nil, []byte(value), nil, 1)
	_, err = producer.Produce(e.t.Context(), topic, 0, &b)
	e.check(err)
	e.check(producer.End(e.t.Context(), false))
}

// TestOffsetSetByAnotherToolIsRefused checks that a group offset set by another tool is refused, because letters would
// then be missed or written twice.
func TestOffsetSetByAnotherToolIsRefused(t *testing.T) {
	e := newEnv(t)
	e.events(20)
	e.row(0, bad, bad)
	e.check(e.run())
	e.row(2, bad)
	c := e.deployment.Config
	e.check(logtest.AlterOffset(t.Context(), e.client, c.Group, c.Verdicts, 0, 0))
	e.refuses("was not set by `oriel letters`", "--topic d.verdicts:0 --delete-offsets")
	e.dropOffset() // the remedy in the message
	e.check(e.run())
	e.wantWritten("0 json_syntax 0, 1 json_syntax 1, 2 json_syntax 2")
	e.check(logtest.AlterOffset(t.Context(), e.client, c.Group, c.Input, 0, 7)) // the group belongs to another consumer
	e.refuses("was not set by `oriel letters`", "topic \"events\"", "ORIEL_LETTERS_GROUP")
}

// within returns the next value of a channel, or fails after half a minute.
func within[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// TestAParkedPartitionGoesOn checks that a parked partition continues without a restart once its topic accepts letters.
// A process that is stopped before then must return the reason why the partition was parked.
func TestAParkedPartitionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := simulated(t).with(deployment.Config{}, 2).opened()
		e.events(3)
		e.row(0, bad, bad)
		c := e.deployment.Config
		limit := func(bytes string) {
			e.check(logtest.Alter(t.Context(), e.client, c.DeadLetter, map[string]string{"max.message.bytes": bytes}))
		}
		limit("60")
		parked, written := make(chan error, 10), make(chan Written, 10)
		start := func() (end func() error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			service := New(e.deployment, Options{Listen: Listener{
				Stopped: func(_ int32, err error) { parked <- err }, Written: func(w Written) { written <- w },
			}})
			ended := make(chan error, 1)
			go func() { ended <- service.Run(ctx) }()
			return func() error {
				cancel()
				return <-ended
			}
		}
		end := start()
		if err := within(t, parked); !strings.Contains(err.Error(), "goes on by itself within 5s") {
			t.Errorf("parked with %v", err)
		}
		synctest.Wait() // the service hears of it after the listener
		if err := end(); err == nil || !strings.Contains(err.Error(), "max.message.bytes=60") {
			t.Errorf("told to end while a partition is parked: %v", err)
		}
		end = start()
		if err := <-parked; err == nil {
			t.Error("parked for no reason")
		}
		limit("1048576")
		if w := within(t, written); w.Letters != 2 {
			t.Errorf("%+v", w)
		}
		synctest.Wait()
		e.check(end())
		e.wantWritten("0 json_syntax 0, 1 json_syntax 1")
		if len(parked) > 0 {
			t.Errorf("said again: %v", <-parked)
		}
	})
}

// interrupted runs until at most most transactions have been committed, and returns all of them.
func (e *env) interrupted(most int) (transactions []Written) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	e.check(New(e.deployment, Options{Listen: Listener{Written: func(w Written) {
		transactions = append(transactions, w)
		if len(transactions) == most {
			cancel()
		}
	}}}).Run(ctx))
	return transactions
}

// TestTransactionsEndInTheMiddleOfARow checks that a row with more letters than a process can hold is written in
// several transactions.
func TestTransactionsEndInTheMiddleOfARow(t *testing.T) {
	e := newEnv(t)
	const n, size = 60, 400_000
	for range n {
		e.append(e.deployment.Config.Input, records.Record{Value: make([]byte, size)})
	}
	verdicts := make([]byte, n)
	for i := range verdicts {
		verdicts[i] = bad
	}
	e.row(0, verdicts...)
	transactions := e.interrupted(2)
	if len(transactions) < 2 || transactions[0].Letters*size < transactionBytes ||
		transactions[0].Letters*size > transactionBytes+2*size {
		t.Fatalf("transactions %+v, want some of %d bytes", transactions, transactionBytes)
	}
	e.check(e.run())
	for i, r := range e.log(e.deployment.Config.DeadLetter) {
		_, offset, _, ok := letterOf(e.deployment.Config.Input, r.Headers)
		if !ok || offset != int64(i) || len(r.Value) != size {
			t.Fatalf("letter %d is of offset %d, %d bytes", i, offset, len(r.Value))
		}
	}
	if got := len(e.log(e.deployment.Config.DeadLetter)); got != n {
		t.Errorf("%d letters, want %d", got, n)
	}
}
