package deadletters

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/schemas"
	"oriel/state"
)

// statusReader reads the verdicts of one partition in the order of the input, and finds the gaps between them.
type statusReader struct {
	deployment changelog.Deployment
	partition  int32
	reader     *fetch.Reader
	sealer     *state.Sealer // nil before the first row: until the partition is opened there is no incarnation
	maxRecord  int           // of the incarnation's configuration: a longer record is too large
	start      int64         // of the incarnation
	decodes    func(config string) *schemas.Decoder
	decoder    *schemas.Decoder // of the incarnation's events; nil: unknown
	sealing    bool             // every version that can open the deployment seals verdicts

	place int64 // offset of the verdict topic from which rows had to be read at the take-over
	begin int64 // and the one where its log began
	found cause // why rows are missing at the take-over, if it is known
	seen  bool  // a row was read since

	next    int64 // offset of the verdict topic after the last row
	covered int64 // offset of the input after the last verdict; −1 before the first row of a new place
	written int64 // offset of the input below which letters are written
}

func (t *task) newRows(at progress, begin int64) *statusReader {
	d, p := t.service.deployment, t.partition
	next := max(at.row, begin)
	return &statusReader{
		deployment: d, partition: p, place: at.row, begin: begin, found: at.found,
		next: next, covered: at.covered, written: at.written,
		decodes: t.service.options.Decoder,
		reader: fetch.NewReader(d.Client, d.Config.Verdicts, p, next, fetch.Options{
			ID: t.verdicts.ID, MaxWait: 250 * time.Millisecond, Budget: t.service.options.Verdicts,
		}),
	}
}

// open opens a row. What it repeats of the rows before, as a transaction that was sent again does, is cut off; where it
// leaves offsets out, they are its gap.
func (r *statusReader) open(
	ctx context.Context, record *records.Record,
) (row state.StatusRow, missing *gap, err error) {
	if r.sealer == nil {
		inc, sealing, err := r.deployment.Incarnation(ctx, r.partition)
		if err != nil {
			return row, nil, err
		}
		if r.maxRecord, err = strconv.Atoi(state.ConfigValue(inc.Config, "MAX_RECORD_BYTES")); err != nil {
			return row, nil, r.stop(record, err, "is of a configuration without a limit of a record",
				"Use the version of Oriel that opened the deployment")
		}
		r.start, r.sealing = inc.Start, sealing
		if r.decodes != nil {
			r.decoder = r.decodes(inc.Config)
		}
		if r.sealer, err = inc.Sealer(); err != nil {
			return row, nil, r.stop(record, err, "cannot be opened", "Restore the changelog topic")
		}
	}
	row, err = r.sealer.OpenVerdicts(record.Value)
	if err != nil {
		return row, nil, r.stop(record, err, "is no row of this partition's incarnation",
			"Keep other writers off the topic; rows of another deployment or of an earlier life of this one cannot be joined. "+
				"Name the right topic in ORIEL_VERDICTS_TOPIC")
	}
	known := max(r.covered, r.written)
	if from := max(known, r.start); row.From > from {
		missing = &gap{from: from, until: row.From, why: r.cause()}
	}
	r.seen = true
	if row.From < known {
		from := min(known, row.To)
		row.Verdicts, row.From = row.Verdicts[from-row.From:], from
	}
	return row, missing, nil
}

// reason is the code of a verdict; OK where there is nothing to write.
func (r *statusReader) reason(record *records.Record, verdict byte) (schemas.Code, error) {
	code, known := schemas.OfVerdict(verdict)
	if !known {
		return code, r.stop(record, nil, fmt.Sprintf("holds the verdict %d, which this version does not know", verdict),
			"Run `oriel letters` of the version that runs the service")
	}
	return code, nil
}

func (r *statusReader) stop(record *records.Record, cause error, what, remedy string) error {
	return &notice.StopError{
		Partition: r.partition, Remedy: remedy, Cause: cause,
		Reason: fmt.Sprintf("the record at offset %d of %q %s", record.Offset, r.deployment.Config.Verdicts, what),
	}
}
