package pipeline

import (
	"context"
	"errors"
	"fmt"

	"oriel/pipeline/kafka"
)

// Semantics numbers what becomes of a record's bytes: how a batch is decompressed, how an event is decoded, how its
// gradient is laid on the lattice, what noise is drawn for it and which decision follows. The noise of a step depends
// on every bit before it, so a version that computes one record otherwise must not repeat steps that another version
// has made readable. The number is raised by hand when a golden file of these changes; the test of this constant lists
// them and says so. It is stored with every state.
const Semantics uint32 = 1

// versioned refuses a model that does not say its semantics.
func (m Model) versioned() error {
	if m.Semantics == 0 {
		return errors.New("pipeline: model: semantics: none")
	}
	return nil
}

// checkSemantics lets a version of other semantics go on only where nothing can be read that it would have to repeat.
func (t *task) checkSemantics(
	ctx context.Context, o *ownedPartition, f *transactionStatus, bounds []kafka.Bounds,
) error {
	was, is := o.position.Semantics, t.service.model.Semantics
	if was == is {
		return nil
	}
	tail := false
	for i, topic := range t.service.topics.outputs() {
		b := bounds[i]
		tail = tail || !f.decisions[i].any && b.Start > 0 // the last decisions were deleted: nobody can tell
		for r, err := range kafka.Records(ctx, t.service.client, topic, t.partition, b.Start, b.High, true) {
			if err != nil {
				return err
			}
			if d, ours := o.decision(r.Value, t.stream); ours && o.isBehind(d) {
				tail = true
				break
			}
		}
	}
	if tail {
		return t.stop(fmt.Sprintf("the state was computed under semantics %d, this version has %d, and decisions behind the state can be read: a repetition could differ from them", was, is),
			"Start the old version once, until it has committed and is told to end; then start this one")
	}
	t.service.listener.Note(t.partition, fmt.Sprintf("the state was computed under semantics %d; nothing behind it can be read, so it goes on under %d", was, is))
	o.position.Semantics = is
	return nil
}
