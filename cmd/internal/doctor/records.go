package doctor

import (
	"context"
	"errors"
	"fmt"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// mostPartitions bounds the number of input partitions that are read.
const mostPartitions = 16

// checkRecords decodes the newest record of each partition of the input as the service does. It reports a problem if
// all are null events, and warns if some are. It prints places, rules and members that settings name; of a record's
// contents it prints only an unknown schema id.
func (e *examination) checkRecords(ctx context.Context) {
	const check = "record"
	switch {
	case !e.options.Record:
		e.skipped(check, "--no-record: the newest records of the input were not read")
		return
	case e.deployed.Model.Writers != nil && e.deployed.Model.Frozen == nil:
		e.skipped(check, "no schema is known that records are written with")
		return
	}
	decoder, err := e.deployed.Model.Decoder()
	if e.refuse(check, err) {
		return
	}
	input := e.deployed.Topics.Input
	var bad []error
	read := 0
	for p := range int32(min(input.Partitions, mostPartitions)) {
		err := e.within(ctx, func(ctx context.Context) error {
			offset, problem, err := e.newest(ctx, input, p, decoder)
			if err != nil || offset < 0 {
				return err
			}
			read++
			if problem != "" {
				bad = append(bad, fmt.Errorf("the newest record of partition %d, at offset %d, is a null event: %s. Correct "+
					"ORIEL_MAP or the producer; `oriel map --help`", p, offset, problem))
			}
			return nil
		})
		if e.refuse(check, err) {
			return
		}
	}
	switch {
	case read == 0:
		e.skipped(check, "the input has no record")
	case len(bad) == read:
		e.refuse(check, errors.Join(bad...))
	default:
		for _, problem := range bad { // a warning only, because a bad record is an event like any other
			e.warn(check, "%v", problem)
		}
		e.ok(check, "private data was read: the newest records are events of partitions: %d", read-len(bad))
	}
}

// newest decodes the last record of a partition. offset is −1 if there is no record; problem contains nothing of the
// record.
func (e *examination) newest(
	ctx context.Context, input topics.Topic, p int32, decoder event.Decoder,
) (offset int64, problem string, err error) {
	bounds, err := topics.BoundsOf(ctx, e.deployed.Client, input.Name, p)
	if err != nil {
		return -1, "", err
	}
	offset = -1
	for from := range fetch.Backwards(bounds.Start, bounds.Stable) {
		for r, err := range fetch.Records(ctx, e.deployed.Client, input, p, from, bounds.Stable, false) {
			if err != nil {
				return -1, "", err
			}
			offset, problem = r.Offset, ""
			if r.Unreadable {
				problem = text.TooLarge.Rule()
				continue
			}
			if placed, is := decoder.(event.PlacedDecoder); is {
				placed.At(p, r.Offset)
			}
			var event event.Event
			if code := decoder.Decode(&event, r.Value); code != text.OK && code != text.Filtered {
				problem = decoder.Problem(nil, code) // without a value, so that the text quotes nothing
			}
		}
		if offset >= 0 {
			break
		}
	}
	return offset, problem, nil
}
