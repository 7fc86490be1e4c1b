package pipeline

import (
	"bytes"
	"context"
	"fmt"

	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// decisionsFound are the decisions of the incarnation beside its state.
type decisionsFound struct {
	some   bool              // a committed one can be read
	last   uint64            // the step of the last committed one
	index  uint64            // and its index
	beyond map[uint64][]byte // the committed ones of steps after the state's, by index
	resend [][]byte          // those up to the state's that are not committed, in order
}

// lookAtDecisions reads the end of the decision topic.
func (t *task) lookAtDecisions(ctx context.Context, o *owned, b kafka.Bounds) (decisionsFound, error) {
	topic := t.service.topics.Decisions
	var f decisionsFound
	behind := b.Start // the last committed one
	for from := range backwards(b.Start, b.Stable) {
		f, behind = decisionsFound{beyond: map[uint64][]byte{}}, b.Start
		before := false // a decision of the state or before it was seen
		for r, err := range recordsOf(ctx, t.service.client, topic, t.partition, from, b.Stable, false) {
			if err != nil {
				return f, err
			}
			d, ours := o.decision(r.Value, t.stream)
			if !ours {
				continue
			}
			f.some, f.last, f.index, behind = true, d.Step, d.Index, r.Offset+1
			if d.Step > o.position.Step {
				f.beyond[d.Index] = bytes.Clone(r.Value)
			} else {
				before = true
			}
		}
		if before {
			break
		}
	}
	var err error
	if f.last < o.position.Step {
		f.resend, err = t.aborted(ctx, o, f, b, behind)
	}
	return f, err
}

// decision reads a record of the decision topic, and tells whether it is of this stream and incarnation.
func (o *owned) decision(value []byte, stream string) (schemas.Decision, bool) {
	d, err := schemas.ParseDecision(value)
	return d, err == nil && d.Incarnation == o.incarnation && d.Stream == stream
}

// aborted finds the decisions between the last committed one and the state's, behind the former. Their bytes are those that belong
// to the state: nobody but the owner of the transactional id writes here, the state was sent after them, and a decision has one
// value for ever. That they are all there, one value each, is checked; without the state before them nothing else can be.
func (t *task) aborted(ctx context.Context, o *owned, f decisionsFound, b kafka.Bounds, from int64) ([][]byte, error) {
	step := f.last + 1
	if !f.some {
		step = 0
	}
	found, first := map[uint64][]byte{}, o.position.Step+1
	for r, err := range recordsOf(ctx, t.service.client, t.service.topics.Decisions, t.partition, from, b.High, true) {
		if err != nil {
			return nil, err
		}
		d, ours := o.decision(r.Value, t.stream)
		if !ours || d.Step < step || d.Step > o.position.Step {
			continue
		}
		if other, seen := found[d.Index]; seen && !bytes.Equal(other, r.Value) {
			return nil, t.stop(fmt.Sprintf("decision %d can be read with two values from aborted transactions", d.Index),
				"The privacy loss of the events that both stand on composes. Open a new deployment under another ORIEL_NAME, and tell whoever accounts for privacy")
		}
		found[d.Index], first = bytes.Clone(r.Value), min(first, d.Step)
	}
	if !f.some && b.Start > 0 { // retention has deleted what came before, and a committed one is never deleted before an aborted copy of it
		step = first
	}
	var lines [][]byte
	for ; step <= o.position.Step; step++ {
		index, count := o.stream.Due(step)
		for ; count > 0; index, count = index+1, count-1 {
			line := found[index]
			if line == nil {
				return nil, t.lost(fmt.Sprintf("decision %d of step %d is not in its topic, and the state stands at step %d", index, step, o.position.Step),
					"The decision topic has lost records: restore it, or open a new deployment under another ORIEL_NAME")
			}
			lines = append(lines, line)
		}
	}
	return lines, nil
}
