package letters

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"oriel/pipeline"
	"oriel/pipeline/kafka"
	"oriel/schemas"
	"oriel/state"
)

// rows reads the verdicts of one partition in the order of the input, and refuses those that do not continue.
type rows struct {
	deployment pipeline.Deployment
	partition  int32
	reader     *kafka.Reader
	sealer     *state.Sealer // nil before the first row: until the partition is opened there is no incarnation
	maxRecord  int           // of the incarnation's configuration: a longer record is too large
	start      int64         // of the incarnation
	decodes    func(config string) *schemas.Decoder
	decoder    *schemas.Decoder // of the incarnation's events; nil: unknown
	noted      func(partition int32, text string)

	next    int64 // offset of the verdict topic after the last row
	covered int64 // offset of the input after the last verdict; −1 before the first row of a new place
	written int64 // offset of the input below which letters are written
}

func (t *task) newRows(next, covered, written int64) *rows {
	d, p := t.service.deployment, t.partition
	topic := d.Topics.Verdicts
	return &rows{
		deployment: d, partition: p, next: next, covered: covered, written: written, noted: t.service.options.Listen.Noted,
		decodes: t.service.options.Decoder,
		reader: d.Client.NewReader(topic.Name, p, next, kafka.ReaderOptions{
			ID: topic.ID, MaxWait: 250 * time.Millisecond, Budget: t.service.options.Verdicts,
		}),
	}
}

// open opens a row and checks that it continues the rows before. What it repeats of them, as a transaction that was
// sent again does, is cut off; nothing may be left.
func (r *rows) open(ctx context.Context, record *kafka.Record) (state.VerdictRow, error) {
	if r.sealer == nil {
		inc, err := r.deployment.Incarnation(ctx, r.partition)
		if err != nil {
			return state.VerdictRow{}, err
		}
		if r.maxRecord, err = strconv.Atoi(state.ConfigValue(inc.Config, "MAX_RECORD_BYTES")); err != nil {
			return state.VerdictRow{}, r.stop(record, err, "is of a configuration without a limit of a record",
				"Use the version of Oriel that opened the deployment")
		}
		r.start = inc.Start
		if r.decodes != nil {
			r.decoder = r.decodes(inc.Config)
		}
		if r.sealer, err = inc.Sealer(); err != nil {
			return state.VerdictRow{}, r.stop(record, err, "cannot be opened", "Restore the changelog topic")
		}
	}
	row, err := r.sealer.OpenVerdicts(record.Value)
	if err != nil {
		return row, r.stop(record, err, "is no row of this partition's incarnation",
			"Keep other writers off the topic; rows of another deployment or of an earlier life of this one cannot be joined. "+
				"Name the right topic in ORIEL_VERDICTS_TOPIC")
	}
	if r.covered >= 0 && row.From > r.covered {
		return row, r.stop(record, nil,
			fmt.Sprintf("starts at offset %d of the input, the row before it ended at %d", row.From, r.covered),
			"Verdicts between them are gone, deleted before they were read or lost on the brokers: some letters cannot be written. "+
				"To go on without them, stop all members and delete the group's offset (kafka-consumer-groups.sh --delete-offsets)")
	}
	if r.covered < 0 && row.From > max(r.start, r.written) && r.noted != nil {
		r.noted(r.partition, fmt.Sprintf("the first row of verdicts starts at offset %d of the input: "+
			"letters of records before it are those of an earlier version, if any", row.From))
	}
	known := max(r.covered, r.written)
	if row.From < known {
		from := min(known, row.To)
		row.Verdicts, row.From = row.Verdicts[from-row.From:], from
	}
	return row, nil
}

// reason is the code of a verdict; OK where there is nothing to write.
func (r *rows) reason(record *kafka.Record, verdict byte) (schemas.Code, error) {
	code, known := schemas.OfVerdict(verdict)
	if !known {
		return code, r.stop(record, nil, fmt.Sprintf("holds the verdict %d, which this version does not know", verdict),
			"Run `oriel letters` of the version that runs the service")
	}
	return code, nil
}

func (r *rows) stop(record *kafka.Record, cause error, what, remedy string) error {
	return &pipeline.StopError{
		Partition: r.partition, Remedy: remedy, Cause: cause,
		Reason: fmt.Sprintf("the record at offset %d of %q %s", record.Offset, r.deployment.Config.Verdicts, what),
	}
}
