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
	Next(params []byte, step, announced uint64) ([]byte, error)
	Wider(params []byte, step, announced uint64) (float64, error)
	Batch() uint64     // records per step
	Announced() uint64 // least number of records between a process's position and an experiment's first step
}

// amendment returns the params appended to the frozen params of partition p's stream, or nil.
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

// Turn is an experiment that was added to a stream.
type Turn struct {
	Partition int32
	Number    int // number of the experiment in its stream, from 1
	Step      uint64
	Announced uint64  // number of steps that a process may have closed before
	Wider     float64 // operators.Testing's Wider; 0: it never has bands
}

// ErrReached reports a first step that a process may have reached already, or a step too soon after it.
var ErrReached = errors.New("pipeline: an experiment must start later than this step")

// ErrToCome reports that the newest experiment of a stream has not started yet, so that another experiment would cut it
// short.
var ErrToCome = errors.New("pipeline: the newest experiment has not started yet")

// NextExperiment adds an experiment to every stream that has the smallest number of experiments. The experiment starts
// at the given step, or with 0 at the first step that is Announced records after all records that a process can have
// read. With 0 the newest experiment must have started, because otherwise a repeated call, after a lost answer, would
// end it at once.
//
// It first fences the owner of the partition, which makes the owner take the partition over again, with the new
// experiment. The fence makes the change safe: every record in an earlier owner's transaction, committed or not, was
// read before the fence. So these records are before the end of the input, which is asked for afterwards, and no
// earlier owner has computed a step that has only later records. The amendment is written by the same fencing producer,
// so it fails if another owner has taken over in between.
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
		if _, err := of.Next(stream.params(), possible, 0); err != nil {
			return nil, err // checked first, because an impossible step must not fence the owner
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

// nextExperiment adds one experiment to the stream of partition p. had is the number of its experiments before.
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
	newest, free := steps[len(steps)-1], stream.firstFree(ends, of.Batch(), 0)
	switch {
	case len(steps) != had:
		return Turn{}, fmt.Errorf("pipeline: another process has just added experiment %d, which starts with step %d", len(steps), newest)
	case step == 0 && newest >= free:
		return Turn{}, fmt.Errorf("%w: experiment %d starts with step %d; name a later one with --step", ErrToCome, len(steps), newest)
	case step == 0:
		step = first
	case step < first:
		return Turn{}, fmt.Errorf("%w: step %d; name %d or a later one", ErrReached, step, first)
	}
	turn := Turn{Partition: p, Number: len(steps) + 1, Step: step, Announced: free - 1}
	line, err := of.Next(stream.params(), step, turn.Announced)
	if err != nil {
		return Turn{}, err
	}
	if turn.Wider, err = of.Wider(stream.params(), step, turn.Announced); err != nil {
		return Turn{}, err
	}
	record := state.Amendment(slices.Concat(stream.appended, line)).Seal(keys.AmendmentKey, d.Config.StreamName(p))
	return turn, d.amend(ctx, producer, keys, p, record)
}

func (d Deployment) amend(ctx context.Context, producer *produce.Producer, keys Keys, p int32, record []byte) error {
	to := kafka.TopicPartition{Topic: d.Config.Changelog, Partition: p}
	return WriteRecord(ctx, producer, to, keys.Amendment, record)
}

// standing is the position of a stream's committed state, and the stream's params.
type standing struct {
	frozen, appended []byte
	at               state.Position
}

func (s standing) params() []byte { return slices.Concat(s.frozen, s.appended) }

// opened reads the incarnation, the amendment and the position of a stream; for a stream that was never opened it
// returns a StopError.
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

// firstFree returns the first step that starts at least `behind` records after the ends of the input. A step has batch
// records; the open step of the state has up to batch − 1.
func (s standing) firstFree(ends []state.SchemaSince, batch, behind uint64) uint64 {
	records := batch - 1 + behind
	for _, end := range ends {
		next := s.at.Next
		if s.at.Order != nil {
			next = 0 // start of a partition that was added later
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
