package takeover

import (
	"bytes"
	"context"
	"fmt"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
)

// decisionsFound describes the decisions of the incarnation in one of its topics, near its state.
type decisionsFound struct {
	any         bool              // a committed decision exists and is readable
	last        uint64            // step of the last committed decision
	index       uint64            // index of the last committed decision
	beyondState map[uint64][]byte // committed decisions beyond the state, by index
	resend      [][]byte          // decisions up to the state that are not committed, in order
}

// findDecisions finds the newest decisions in each decision topic.
func (t *takeOver) findDecisions(ctx context.Context) ([]decisionsFound, error) {
	topics := t.Topics.Outputs()
	found := make([]decisionsFound, len(topics))
	_, owed := t.Stream.Due(0) // number of decisions due before the first record
	if t.Position.Owes {
		owed = 0 // the state precedes these decisions, so they will be made again
	}
	lack := abortedDecisions{from: t.Position.Step + 1, lines: make([]map[uint64][]byte, len(topics))}
	for i, topic := range topics {
		f, behind, err := t.findDecisionsOf(ctx, topic, t.ends.decisions[i])
		if err == nil && (f.last < t.Position.Step || !f.any && owed > 0) {
			err = t.findAborted(ctx, topic, i, f, behind, &lack)
		}
		if err != nil {
			return nil, err
		}
		found[i] = f
	}
	return found, t.resend(ctx, found, lack)
}

// findDecisionsOf reads the committed end of one topic, and returns the offset after the last decision of this stream.
func (t *takeOver) findDecisionsOf(
	ctx context.Context, topic topics.Topic, b topics.Bounds,
) (f decisionsFound, behind int64, err error) {
	for from := range fetch.Backwards(b.Start, b.Stable) {
		f, behind = decisionsFound{beyondState: map[uint64][]byte{}}, b.Start
		before := false // whether the search met a decision up to the state
		for r, err := range fetch.Records(ctx, t.Client, topic, t.partition, from, b.Stable, false) {
			if err != nil {
				return f, behind, err
			}
			d, ours := t.decision(r.Value)
			if !ours {
				continue
			}
			f.any, f.last, f.index, behind = true, d.Step, d.Index, r.Offset+1
			if t.isBehind(d) {
				f.beyondState[d.Index] = bytes.Clone(r.Value)
			} else {
				before = true
			}
		}
		if before {
			break
		}
	}
	return f, behind, nil
}

// decision parses a record of a decision topic, and reports whether it belongs to this stream and incarnation.
func (t *takeOver) decision(value []byte) (decision.Decision, bool) {
	d, err := decision.Parse(value)
	return d, err == nil && d.Incarnation == t.incarnation && d.Stream == t.name
}

// isBehind reports whether a decision comes after the state. If the state owes its first decisions, all decisions come
// after it.
func (t *takeOver) isBehind(d decision.Decision) bool {
	return d.Step > t.Position.Step || t.Position.Owes
}

// abortedDecisions holds the decisions up to the state that follow the last committed decision in their topic.
type abortedDecisions struct {
	from     uint64              // first step whose decision a topic may lack; beyond the state if no topic lacks one
	complete uint64              // first step from which every topic is known to have all decisions
	lines    []map[uint64][]byte // decisions by output and index
}

// findAborted finds the decisions of one topic after its last committed one, up to the state. Their bytes can be
// trusted: only the owner of the transactional id writes to the topic, the state was sent after them, and a decision
// has only one value.
func (t *takeOver) findAborted(
	ctx context.Context, topic topics.Topic, output int, f decisionsFound, behind int64,
	lack *abortedDecisions,
) error {
	b, step := t.ends.decisions[output], f.last+1
	if !f.any {
		step = t.Stream.Base()
	}
	found, first := map[uint64][]byte{}, t.Position.Step+1
	for r, err := range fetch.Records(ctx, t.Client, topic, t.partition, behind, b.High, true) {
		if err != nil {
			return err
		}
		d, ours := t.decision(r.Value)
		if !ours || d.Step < step || d.Step > t.Position.Step {
			continue
		}
		if other, seen := found[d.Index]; seen && !bytes.Equal(other, r.Value) {
			return t.stop(fmt.Sprintf("decision %d can be read with two values from aborted transactions", d.Index),
				"The privacy loss of the events that both stand on composes. Open a new deployment under another ORIEL_NAME, and inform your privacy officer")
		}
		found[d.Index], first = bytes.Clone(r.Value), min(first, d.Step)
	}
	// Retention has deleted the earlier records. It never deletes a committed decision before an aborted copy of it.
	if !f.any && b.Start > 0 {
		step, lack.complete = first, max(lack.complete, first)
	}
	lack.from, lack.lines[output] = min(lack.from, step), found
	return nil
}

// resend lists the decisions up to the state that each topic lacks. It checks that some topic has every decision that
// is due, as far as retention allows. Without an earlier state no more can be checked.
func (t *takeOver) resend(ctx context.Context, found []decisionsFound, lack abortedDecisions) error {
	committed, whole, err := t.committed(ctx, lack.from)
	if err != nil {
		return err
	}
	whole = max(whole, lack.complete)
	for step := lack.from; step <= t.Position.Step; step++ {
		index, count := t.Stream.Due(step)
		for ; count > 0; index, count = index+1, count-1 {
			is := committed[index]
			for output := range found {
				if line := lack.lines[output][index]; line != nil {
					found[output].resend, is = append(found[output].resend, line), true
				}
			}
			if !is && step >= whole {
				return t.lost(fmt.Sprintf("decision %d of step %d is not in its topic, and the state stands at step %d", index, step, t.Position.Step),
					"The decision topic was deleted and made again, or lost records. Bring it back from a backup. Without the decisions this "+
						"deployment is over: open a new one under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read")
			}
		}
	}
	return nil
}

// committed finds the decisions from a step on that are committed in either topic of an operator with two topics. It
// also returns the first step from which on retention has deleted none of them. The topics' ends alone do not suffice,
// because a step may have a decision in only one topic.
func (t *takeOver) committed(ctx context.Context, step uint64) (is map[uint64]bool, whole uint64, err error) {
	topics := t.Topics.Outputs()
	if len(topics) == 1 || step > t.Position.Step {
		return nil, step, nil
	}
	is, whole = map[uint64]bool{}, step
	for i, topic := range topics {
		first, err := t.committedIn(ctx, topic, t.ends.decisions[i], step, is)
		if err != nil {
			return nil, 0, err
		}
		whole = max(whole, first)
	}
	return is, whole, nil
}

// committedIn adds the committed decisions of one topic to is. It returns the first step from which on the topic has
// all its decisions.
func (t *takeOver) committedIn(
	ctx context.Context, topic topics.Topic, b topics.Bounds, step uint64, is map[uint64]bool,
) (uint64, error) {
	whole := step // raised below if retention has deleted decisions
	for from := range fetch.Backwards(b.Start, b.Stable) {
		some, before := false, false
		for r, err := range fetch.Records(ctx, t.Client, topic, t.partition, from, b.Stable, false) {
			if err != nil {
				return 0, err
			}
			d, ours := t.decision(r.Value)
			if !ours {
				continue
			}
			if !some && b.Start > 0 {
				whole = d.Step + 1 // retention may have deleted other decisions of this step
			}
			some = true
			before = before || d.Step < step
			is[d.Index] = is[d.Index] || d.Step >= step
		}
		if before {
			return step, nil
		}
	}
	return max(whole, step), nil
}
