package main

import (
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/pipetest"
)

// largeEvent is the size of records that may have a thousand headers.
const largeEvent = 4200

// slowly makes each commit of a member take longer than it does.
func slowly(by time.Duration) pipetest.Fault {
	return pipetest.Fault{
		Kind: pipetest.Kind{API: "EndTxn", Partition: pipetest.AnyPartition}, Count: -1, Effect: pipetest.Late(by),
	}
}

// unhurried commits take longer than their interval, while some megabytes wait to be fetched. So a transaction ends
// when the one before it has ended, wherever its events are by then.
func unhurried(partitions, burst int) neighbour {
	return neighbour{
		partitions: partitions, burst: burst, framing: framing{batch: 100},
		env: map[string]string{"ORIEL_COMMIT_INTERVAL": "2ms"},
	}
}

// TestOneHeaderMovesNothing: some events of an adversary have as many headers as are allowed, or one less. Another
// event, of one length, has none, one or many.
func TestOneHeaderMovesNothing(t *testing.T) {
	model, event := blind(), kafka.Record{Value: []byte(validEvent)}
	large := func(headers int) kafka.Record { return filledTo(t, ofHeaders(headers, event), largeEvent, inValue) }
	none, one, many, most := large(0), large(1), large(kafka.MaxHeaders-1), large(kafka.MaxHeaders)
	for name, c := range map[string]struct {
		victim kafka.Record
		is     func(n, i int) bool // the victim's event
	}{
		"many headers":           {most, func(n, i int) bool { return n == 0 && i == 2703 }},
		"one header":             {one, func(n, i int) bool { return n == 0 && i == 2703 }},
		"one header, everywhere": {one, func(_, i int) bool { return i%60 == 3 }},
	} {
		in := unhurried(1, 3000)
		say := func(victim kafka.Record) func(n, i int) kafka.Record {
			return func(n, i int) kafka.Record {
				switch {
				case c.is(n, i):
					return victim
				case i%60 == 1:
					return most
				case i%60 == 2:
					return many
				}
				return none
			}
		}
		in.record = say(none)
		want, _ := observe(t, model, in, slowly(2*time.Millisecond))
		in.record = say(c.victim)
		got, _ := observe(t, model, in, slowly(2*time.Millisecond))
		if text := pipetest.Difference(want, got); text != "" {
			t.Errorf("%s: %s", name, text)
		}
	}
}

