package plan

import (
	"errors"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms/dp"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
	"oriel/state"
)

// Simulate sets the length of a sealed state, the privacy loss of a stream's draws, and the sizes of its decisions.
func (in *Input) Simulate(s settings.Settings) (err error) {
	model, seen := s.Model(), false
	in.SealedState, in.Draws, in.Published, seen, err = firstStream(model)
	if err == nil && !seen {
		in.Published, err = seldom(s, in.Published)
	}
	in.Published.Every, in.Published.Fixed = s.EmitEvery(), model.Encoding != decision.JSON
	return err
}

// firstStream opens a stream of the model. It returns the length of a sealed state, the privacy loss of the stream's
// draws, and the sizes of its decisions. All sealed states have the same length, so it seals only the first state. seen
// is false if the first decision comes too late to be measured.
func firstStream(model streams.Model) (sealed int, draws dp.Draws, published Published, seen bool, err error) {
	frozen, err := model.Learner.Params()
	if err != nil {
		return 0, dp.Draws{}, published, false, err
	}
	inc := state.NewIncarnation(state.Incarnation{Config: model.Settings, Params: frozen})
	opened, err := streams.OpenModel(model, frozen)
	if err != nil {
		return 0, dp.Draws{}, published, false, err
	}
	stream, err := opened.Open([32]byte{}, [32]byte{}, inc.Stream, inc.ID)
	if err != nil {
		return 0, dp.Draws{}, published, false, err
	}
	sealer, err := inc.Sealer()
	if err != nil {
		return 0, dp.Draws{}, published, false, err
	}
	sealed = len(sealer.Seal(nil, state.Position{}, stream.AppendState(nil)))
	published, seen, err = publishes(stream)
	return sealed, stream.Guarantee().Draws, published, seen, err
}

// Limits of the number of events, and of the time, that plan simulates until the first decision.
const (
	mostPlanned = 1 << 17
	planFor     = 2 * time.Second
)

// seldom returns the published sizes if decisions of the first topic are far apart. It measures one such decision with
// an operator that publishes every decision, and adds the measured sizes of the second topic.
func seldom(s settings.Settings, actions Published) (published Published, err error) {
	interval := s.Batch * max(1, s.EmitEvery())
	_, _, one, seen, err := firstStream(s.EmitAll().Model())
	if err != nil || !seen || actions.Events == 0 {
		return Published{Late: interval}, err
	}
	size := float64(one.Thinned) / float64(one.Decided)
	per := float64(interval) / float64(actions.Events)
	return Published{
		Bytes: size + per*actions.Bytes, Decisions: 1 + per*actions.Decisions, Events: float64(interval), Thinned: size,
		Decided: 1,
	}, nil
}

// publishes feeds empty events to a stream until a step publishes, and returns the sizes of the decisions. seen is
// false if no step has published to the first topic.
func publishes(stream *streams.Stream) (published Published, seen bool, err error) {
	walk := &streams.Walk{
		Stream: stream,
		Decided: func(output uint8, _, line []byte) {
			published.Decisions++
			published.Bytes += float64(len(line))
			if output == 0 {
				seen = true
				published.Thinned += float64(len(line))
				published.Decided++
			}
		},
		Taken: func(*records.Record, int64, text.Code) { published.Events++ },
	}
	walk.Start()
	published, seen = Published{}, false // decisions at the opening are published only once, so they do not count
	const someTime = 1_700_000_000_000   // any timestamp with as many digits as a real one
	record := [1]records.Record{{Public: records.Public{Timestamp: someTime}, Unreadable: true}}
	for start := time.Now(); !seen && published.Events < mostPlanned && time.Since(start) < planFor; {
		at := walk.Position.Next
		record[0].Offset = at
		b := fetch.Batch{From: at, Next: at + 1, Records: record[:]}
		err := walk.Take(&b, func() int64 { return b.Next })
		if errors.Is(err, streams.ErrEnded) {
			break
		}
		if err != nil {
			return published, false, err
		}
	}
	return published, seen, nil
}
