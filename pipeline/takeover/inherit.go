package takeover

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// inheritAll ends the predecessor of a whole topic's stream in all partitions, and then moves at to the offsets of the
// predecessor's group. It returns the last decision of the predecessor's stream that this stream continues, or nil if
// it starts from nothing. Each event was in one stream of the predecessor, so that steps compose as in inherit.
func (t *takeOver) inheritAll(
	ctx context.Context, at *state.Ordered, inputs []topics.Bounds,
) (*operators.Decision, error) {
	f := t.Config.Predecessor
	states, decisions, err := t.predecessorTopics(ctx)
	if err != nil {
		return nil, err
	}
	from, err := t.predecessorStream(decisions)
	if err != nil {
		return nil, err
	}
	if err := eachAtOnce(decisions.Partitions, func(p int) error {
		return t.endPredecessor(ctx, states, decisions, int32(p))
	}); err != nil {
		return nil, err
	}
	var last *operators.Decision
	if from >= 0 {
		names := []string{deployment.Config{}.StreamName(from)}
		if decisions.Partitions == 1 {
			names = append(names, t.Config.Input) // the predecessor may have been one stream of the whole topic
		}
		if _, last, err = t.predecessorDecision(ctx, decisions, from, names...); err != nil {
			return nil, err
		}
		if last == nil && f.Stream != "" {
			return nil, t.stop(fmt.Sprintf("ORIEL_AFTER_STREAM: stream %d of %q has published no decision", from, f.Name),
				"Name another stream, or set ORIEL_AFTER_STREAM=none: this deployment then learns from nothing, where the other one ended")
		}
	}
	offsets, err := group.CommittedOffsets(ctx, t.Client, f.Group, t.Config.Input, t.inputs())
	if err != nil {
		return nil, fmt.Errorf("pipeline: offsets of group %s: %w", f.Group, err)
	}
	for _, o := range offsets {
		switch part, _ := at.Part(o.Partition); {
		case o.Offset >= 0:
			if part.Next, err = t.predecessorOffset(o.Partition, o.Offset, inputs[o.Partition]); err != nil {
				return nil, err
			}
			at.Set(part)
		case last != nil && o.Partition == from: // one stream of a topic has offsets in all partitions it was opened with
			return nil, t.noOffset()
		}
	}
	if last != nil {
		t.Listener.Note(t.partition, fmt.Sprintf("goes on after %s: from its decision of step %d, where its group stands in each partition", f.Name, last.Step))
	}
	return last, nil
}

// predecessorStream returns the partition of the predecessor's decisions whose stream this one continues, or −1 if
// there is none. If there are several, it returns an error that asks for a choice.
func (t *takeOver) predecessorStream(decisions topics.Topic) (int32, error) {
	f := t.Config.Predecessor
	switch {
	case f.Stream == deployment.NoStream:
		return -1, nil
	case f.Stream == "" && decisions.Partitions > 1:
		return 0, t.stop(fmt.Sprintf("ORIEL_AFTER: %q has %d streams, and this deployment has one, which can go on from one decision", f.Name, decisions.Partitions),
			"Set ORIEL_AFTER_STREAM to the partition whose last decision is best for all, or to none: this deployment then learns from nothing, where the other one ended")
	case f.Stream == "":
		return 0, nil
	}
	p, err := strconv.ParseInt(f.Stream, 10, 32) // valid, because the configuration was checked
	if err != nil || int(p) >= decisions.Partitions {
		return 0, t.stop(fmt.Sprintf("ORIEL_AFTER_STREAM: %q has streams 0 to %d, and no stream %s", f.Name, decisions.Partitions-1, f.Stream),
			"Name one of them, or none")
	}
	return int32(p), nil
}

// atOnce bounds the number of concurrent requests of a take-over.
const atOnce = 16

// eachAtOnce calls do for 0 … n − 1, up to atOnce of them concurrently, and waits for all. Of several errors it returns
// the one of the smallest index.
func eachAtOnce(n int, do func(i int) error) error {
	var running sync.WaitGroup
	errs, slots := make([]error, n), make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
