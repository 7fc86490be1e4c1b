package changelog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/notice"
	"oriel/state"
)

// Experimenter reads and extends the experiments in the frozen params of a stream; streams.Learner is one.
type Experimenter interface {
	Turns(params []byte) (steps []uint64, err error)
	Next(params []byte, step uint64) ([]byte, error)
	Batch() uint64     // records of a step
	Announced() uint64 // least number of records between what a process has read and an experiment's first step
}

// amendment returns what was appended to the params of the stream of partition p; nil if nothing was.
func (view *View) amendment(keys Keys, c deployment.Config, p int32) ([]byte, error) {
	record := view.Value(keys.Amendment)
	if record == nil {
		return nil, nil
	}
	appended, err := state.OpenAmendment(record, keys.AmendmentKey, c.StreamName(p))
	if err != nil {
		return nil, CannotOpen(p, err)
	}
	return appended, nil
}

// Turn is an experiment that a stream has been given: its number, from 1, and its first step.
type Turn struct {
	Partition int32
	Number    int
	Step      uint64
}

// ErrReached reports a first step that some process may have reached already, or that comes too soon behind it.
var ErrReached = errors.New("pipeline: an experiment must start later than that")

// ErrToCome reports that the newest experiment of a stream has not started yet, so that one more would cut it short.
var ErrToCome = errors.New("pipeline: the newest experiment has not started yet")

// NextExperiment gives the next experiment to every stream that has as few as any other. It starts with the given step;
// 0: with the first step that is Announced records behind all that a process can have read. Then the newest experiment
// must have started, because a call whose answer was lost, and that is repeated, would end it at once.
//
// It first fences the process that has the partition, so that this process takes the partition over again, with the new
// experiment. That makes the change safe. All that an earlier owner has sent, in a transaction that was committed or
// not, it had read before it was fenced. So these records lie before the end that is asked for afterwards, and a step
// that holds later records alone was computed by no earlier owner. The record is written under the same fence, because
// an owner that comes in between fences this writer.
func (d Deployment) NextExperiment(ctx context.Context, of Experimenter, step uint64) (given []Turn, err error) {
	streams, fewest := int32(d.Topics.Changelog.Partitions), 0
	counts := make([]int, streams)
	for p := range streams {
		view, keys, err := d.current(ctx, p)
		if err != nil {
			return nil, err
		}
		stream, err := d.opened(view, keys, p)
		if err != nil {
			return nil, err
		}
		steps, err := of.Turns(stream.params())
		if err != nil {
			return nil, err
		}
		possible := step
		if step == 0 {
			possible = slices.Max(append(steps, 0)) + 1
		}
		if _, err := of.Next(stream.params(), possible); err != nil {
			return nil, err // nobody is fenced for a step that no stream takes
		}
		if counts[p] = len(steps); p == 0 || counts[p] < fewest {
			fewest = counts[p]
		}
	}
	for p := range streams {
		if counts[p] > fewest {
			continue
		}
		turn, err := d.nextExperiment(ctx, of, step, p, fewest)
		if err != nil {
			return given, fmt.Errorf("pipeline: experiment of partition %d: %w", p, err)
		}
		given = append(given, turn)
	}
	return given, nil
}

// nextExperiment gives partition p one experiment more than it had.
func (d Deployment) nextExperiment(ctx context.Context, of Experimenter, step uint64, p int32, had int) (Turn, error) {
	producer, view, keys, err := d.fenced(ctx, p)
	if err != nil {
		return Turn{}, err
	}
	stream, err := d.opened(view, keys, p)
	if err != nil {
		return Turn{}, err
	}
	ends, err := d.ends(ctx, p)
	if err != nil {
		return Turn{}, err
	}
	first := stream.firstFree(ends, of.Batch(), of.Announced())
	steps, err := of.Turns(stream.params())
	if err != nil {
		return Turn{}, err
	}
	newest := steps[len(steps)-1]
	switch {
	case len(steps) != had:
		return Turn{}, fmt.Errorf("pipeline: another process has just given it experiment %d, which starts with step %d", len(steps), newest)
	case step == 0 && newest >= stream.firstFree(ends, of.Batch(), 0):
		return Turn{}, fmt.Errorf("%w: experiment %d starts with step %d; name a later one with --step", ErrToCome, len(steps), newest)
	case step == 0:
		step = first
	case step < first:
		return Turn{}, fmt.Errorf("%w: step %d; name %d or a later one", ErrReached, step, first)
	}
	line, err := of.Next(stream.params(), step)
	if err != nil {
		return Turn{}, err
	}
	record := state.Amendment(slices.Concat(stream.appended, line)).Seal(keys.AmendmentKey, d.Config.StreamName(p))
	return Turn{p, len(steps) + 1, step}, d.amend(ctx, producer, keys, p, record)
}

func (d Deployment) amend(ctx context.Context, producer *produce.Producer, keys Keys, p int32, record []byte) error {
	to := kafka.TopicPartition{Topic: d.Config.Changelog, Partition: p}
	return WriteRecord(ctx, producer, to, keys.Amendment, record)
}

// standing is where the committed state of a stream stands, and its params.
type standing struct {
	frozen, appended []byte
	at               state.Position
}

func (s standing) params() []byte { return slices.Concat(s.frozen, s.appended) }

// opened reads the incarnation, the amendment and the position of a stream; a stream that was never opened is a
// StopError.
func (d Deployment) opened(view *View, keys Keys, p int32) (s standing, err error) {
	record := view.Value(keys.Incarnation)
	sealed, err := view.Sealed(keys.State)
	switch {
	case err != nil:
		return s, CannotOpen(p, err)
	case record == nil || sealed == nil:
		return s, &notice.StopError{
			Partition: p, Reason: "the stream was not opened yet, so that it has no experiment to follow",
			Remedy: "Start `oriel run` first. ORIEL_EXPERIMENT_STEP of a new deployment lists the steps of several experiments",
		}
	}
	inc, err := state.OpenIncarnation(record, d.Master)
	if err != nil {
		return s, CannotOpen(p, err)
	}
	sealer, err := inc.Sealer()
	if err != nil {
		return s, CannotOpen(p, err)
	}
	s.frozen = inc.Params
	if s.at, _, err = sealer.Open(sealed); err != nil {
		return s, CannotOpen(p, err)
	}
	s.appended, err = view.amendment(keys, d.Config, p)
	return s, err
}

// firstFree returns the first step of batch records that starts so many records behind the ends of the input, or later.
// The open step of the state has up to batch − 1 records.
func (s standing) firstFree(ends []state.SchemaSince, batch, behind uint64) uint64 {
	records := batch - 1 + behind
	for _, end := range ends {
		next := s.at.Next
		if s.at.Order != nil {
			next = 0 // of a partition that was added since
			for _, part := range s.at.Order.Parts {
				if part.Partition == end.Partition {
					next = part.Next
				}
			}
		}
		records += uint64(max(0, end.Offset-next))
	}
	return s.at.Step + (records+batch-1)/batch + 1
}
