package deadletters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
)

// statusReader reads the statuses of one stream in order, and finds the gaps between their rows.
// For a whole topic, a row names the partition of each offset. Rows have the offsets of one partition in ascending
// order, so a gap in a partition shows at the partition's next row.
type statusReader struct {
	deployment changelog.Deployment
	partition  int32 // partition of the verdict topic
	reader     *fetch.Reader
	sealer     *state.Sealer  // nil before the first row, because a stream has no incarnation before it is opened
	maxRecord  int            // longest valid record in the incarnation's configuration
	start      int64          // first offset of the incarnation
	order      *state.Ordered // start in each partition, for a whole topic's stream; nil for one partition's
	decodes    func(config string, frozen func() (state.Schemas, error)) event.Decoder
	decoder    event.Decoder // decodes the incarnation's events; nil: unknown

	place int64 // offset in the verdict topic of the first row to read, as of the take-over
	begin int64 // first offset of the verdict topic at the take-over
	found cause // why rows are missing at the take-over, if known
	known bool  // every row before place was read
	seen  bool  // at least one row was read since the take-over

	next  int64 // offset in the verdict topic after the last row
	parts parts // offset in each partition up to which rows were read or dead letters written

	end     int64 // offset in the stream after the last row
	missing int64 // number of offsets before end that have no status and belong to no gap yet
	why     cause // why the last of the missing statuses is missing
}

// parts maps partitions of the input to offsets.
type parts map[int32]int64

// sum returns the sum of the offsets, which a note contains as a checksum.
func (p parts) sum() (sum int64) {
	for _, offset := range p {
		sum += offset
	}
	return sum
}

// run is a range of offsets of one partition of the input, together with their statuses, that no earlier row has
// reported.
type run struct {
	row       int64 // offset of the row in the verdict topic
	partition int32
	from      int64
	verdicts  []byte // one status per offset
	missing   *gap   // gap that ends where the run starts, or nil
}

func (t *task) newRows(at progress, begin int64) *statusReader {
	d, p := t.service.deployment, t.partition
	next := max(at.row, begin)
	return &statusReader{
		deployment: d, partition: p, place: at.row, begin: begin, found: at.found, known: at.known,
		next: next, parts: maps.Clone(at.parts),
		decodes: t.service.options.Decoder,
		reader: fetch.NewReader(d.Client, d.Config.Verdicts, p, next, fetch.Options{
			ID: t.verdicts.ID, MaxWait: 250 * time.Millisecond, Budget: t.service.options.Verdicts,
		}),
	}
}

// open opens a row. It leaves out the offsets that earlier rows have reported, because a row may have been sent again.
// Offsets that the row skips become the gap before a run.
func (r *statusReader) open(ctx context.Context, record *records.Record) ([]run, error) {
	if r.sealer == nil {
		if err := r.find(ctx, record); err != nil {
			return nil, err
		}
	}
	row, err := r.sealer.OpenStatuses(record.Value)
	if err == nil && (row.Stretches != nil) != (r.order != nil) && len(row.Statuses) > 0 {
		err = errors.New("a row of a whole topic has stretches, another one has none")
	}
	if err != nil {
		return nil, r.stop(record.Offset, err, "is no row of this partition's incarnation",
			"Keep other writers off the topic; rows of another deployment or of an earlier life of this one cannot be joined. "+
				"Name the right topic in ORIEL_VERDICTS_TOPIC")
	}
	if row.From.Next > r.end {
		r.missing, r.why = r.missing+row.From.Next-r.end, r.cause()
	}
	r.end = max(r.end, row.To.Next)
	stretches := row.Stretches
	if r.order == nil {
		stretches = []state.Stretch{{Partition: r.partition, From: row.From.Next, To: row.To.Next}}
	}
	var runs []run
	for _, s := range stretches {
		verdicts := row.Statuses[:s.To-s.From]
		row.Statuses = row.Statuses[len(verdicts):]
		n := run{row: record.Offset, partition: s.Partition, from: s.From}
		known := max(r.parts[s.Partition], r.startOf(s.Partition))
		if s.From > known {
			n.missing = r.gap(known, s.From)
		}
		n.from = max(s.From, known)
		if n.from < s.To {
			n.verdicts, r.parts[s.Partition] = verdicts[n.from-s.From:], s.To
			runs = append(runs, n)
		}
	}
	r.seen = true
	return runs, nil
}

// find looks up the incarnation that wrote the row.
func (r *statusReader) find(ctx context.Context, record *records.Record) error {
	inc, err := r.deployment.Incarnation(ctx, r.partition)
	if err != nil {
		return err
	}
	if r.maxRecord, err = strconv.Atoi(state.ConfigValue(inc.Config, "MAX_RECORD_BYTES")); err != nil {
		return r.stop(record.Offset, err, "is of a configuration without a limit of a record",
			"Use the version of Oriel that opened the deployment")
	}
	r.start, r.order = inc.Start, inc.Order
	if r.decodes != nil {
		r.decoder = r.decodes(inc.Config, func() (state.Schemas, error) { return r.deployment.Frozen(ctx, r.partition) })
	}
	if r.sealer, err = inc.Sealer(); err != nil {
		return r.stop(record.Offset, err, "cannot be opened", "Restore the changelog topic")
	}
	switch {
	case r.order == nil:
		r.end = max(r.parts[r.partition], r.start)
	case r.known:
		for p, offset := range r.parts {
			r.end += max(0, offset-r.startOf(p))
		}
	}
	return nil
}

// startOf returns the first offset of a partition of the input that the incarnation reads.
func (r *statusReader) startOf(partition int32) int64 {
	if r.order == nil {
		return r.start
	}
	part, _ := r.order.Part(partition)
	return part.Next
}

// gap returns a gap for the offsets [from, until) of a partition, which no row reports.
func (r *statusReader) gap(from, until int64) *gap {
	g := &gap{from: from, until: until, why: r.why}
	if g.why == (cause{}) {
		g.why = r.cause()
	}
	r.missing = max(0, r.missing-(until-from))
	return g
}

// settle forgets the cause of missing offsets once all of them have a letter.
func (r *statusReader) settle() {
	if r.missing == 0 {
		r.why = cause{}
	}
}

// pending returns the cause of missing offsets whose partitions no later row has named yet, or zero.
func (r *statusReader) pending() cause {
	if r.order == nil {
		return cause{}
	}
	return r.why
}

// reason returns the code of a status; OK means that no letter is needed.
func (r *statusReader) reason(row int64, verdict byte) (text.Code, error) {
	code, known := text.CodeOfStatus(verdict)
	if !known {
		return code, r.stop(row, nil, fmt.Sprintf("holds the verdict %d, which this version does not know", verdict),
			"Run `oriel letters` of the version that runs the service")
	}
	if code == text.Filtered { // a filtered record has no fault
		return text.OK, nil
	}
	return code, nil
}

func (r *statusReader) stop(row int64, cause error, what, remedy string) error {
	return &notice.StopError{
		Partition: r.partition, Remedy: remedy, Cause: cause,
		Reason: fmt.Sprintf("the record at offset %d of %q %s", row, r.deployment.Config.Verdicts, what),
	}
}
