package pipeline

import (
	"bytes"
	"context"
	"fmt"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// statusesFound are the verdict rows of the incarnation beside its state.
type statusesFound struct {
	end         int64            // of the last committed row, −1 if none can be read
	rows        []sealedStatuses // those inspected, aborted ones behind the last committed one included, in order
	beyondState []sealedStatuses // the committed ones behind the state
	resend      []sealedStatuses // those up to the state that are not committed, in order
}

type sealedStatuses struct {
	state.StatusRow
	sealed []byte
}

// findStatuses reads the end of the verdict topic.
func (t *task) findStatuses(ctx context.Context, o *ownedPartition, b kafka.Bounds) (statusesFound, error) {
	topic, next := t.service.topics.Verdicts, o.position.Next
	var f statusesFound
	behind := b.Start // the last committed row
	collect := func(from, end int64, uncommitted bool, each func(r sealedStatuses, offset int64)) error {
		for r, err := range kafka.Records(ctx, t.service.client, topic, t.partition, from, end, uncommitted) {
			if err != nil {
				return err
			}
			// else it is of another incarnation, or of somebody else
			if opened, err := o.sealer.OpenVerdicts(r.Value); err == nil {
				each(sealedStatuses{opened, bytes.Clone(r.Value)}, r.Offset)
			}
		}
		return nil
	}
	for from := range kafka.Backwards(b.Start, b.Stable) {
		f, behind = statusesFound{end: -1}, b.Start
		if err := collect(from, b.Stable, false, func(r sealedStatuses, offset int64) {
			f.end, f.rows, behind = r.To, append(f.rows, r), offset+1
			if r.To > next {
				f.beyondState = append(f.beyondState, r)
			}
		}); err != nil {
			return f, err
		}
		if len(f.rows) > 0 && f.rows[0].To <= next {
			break
		}
	}
	committed := len(f.rows)
	if err := collect(behind, b.High, true, func(r sealedStatuses, _ int64) { f.rows = append(f.rows, r) }); err != nil {
		return f, err
	}
	// The rows up to the state, from the last one back to where the committed ones end. A state of a version without
	// verdicts has none.
	for at, i := next, len(f.rows)-1; i >= committed && at > f.end; i-- {
		if f.rows[i].To == at {
			f.resend = append([]sealedStatuses{f.rows[i]}, f.resend...)
			at = f.rows[i].From
		}
	}
	return f, nil
}

// unsealed are the offsets up to a state whose verdicts neither are committed nor can be sent again; from is where the
// incarnation starts. Decisions do not depend on verdicts, so nothing stops for them. A log that retention has emptied
// tells nothing.
func (f *statusesFound) unsealed(from, next int64, b kafka.Bounds) (first, end int64) {
	if f.end < 0 && b.Start > 0 {
		return next, next
	}
	end = next
	if len(f.resend) > 0 {
		end = f.resend[0].From
	}
	return max(f.end, from), end
}

// reportUnsealed notes the offsets whose letters cannot be written.
func (t *task) reportUnsealed(o *ownedPartition, f *statusesFound, b kafka.Bounds) {
	first, end := f.unsealed(o.start, o.position.Next, b)
	if first >= end {
		return
	}
	topic := t.service.config.Verdicts
	text := fmt.Sprintf("topic %q has no verdicts of the input's offsets %d to %d: ", topic, first, end-1)
	switch {
	case o.sealing:
		text += "it was deleted and made again, or the brokers lost records. Letters of them that were not written are lost"
	case f.end >= 0:
		text += "a version of Oriel that seals none has taken them, and wrote their letters itself"
	default:
		text += "a version of Oriel that seals none has taken them, and wrote their letters itself. If the topic was deleted and made " +
			"again since, letters that were not written are lost"
	}
	t.service.listener.Note(t.partition, text+"; decisions go on")
}

// began tells whether a transaction that ended at an offset of the input may have begun at another, by the rows that
// were sent for it: all but the last of one transaction are full.
func (f *statusesFound) began(end, at int64) bool {
	for i := len(f.rows) - 1; i >= 0; i-- {
		if r := f.rows[i]; r.To == end {
			if r.From == at {
				return true
			}
			for j := i - 1; j >= 0 && f.rows[j].To == f.rows[j+1].From && len(f.rows[j].Verdicts) == state.MaxVerdicts; j-- {
				if f.rows[j].From == at {
					return true
				}
			}
		}
	}
	return false
}

// ended tells whether a transaction was sent that ended at an offset of the input.
func (f *statusesFound) ended(at int64) bool {
	for _, r := range f.rows {
		if r.To == at {
			return true
		}
	}
	return false
}
