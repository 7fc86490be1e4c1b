package volume

import (
	"errors"
	"math"
	"math/bits"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/steps"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
	"oriel/state"
)

// Opened holds the sizes of a stream, and the privacy loss of its draws.
type Opened struct {
	SealedState int       // size of the sealed state, bytes
	Draws       dp.Draws  // privacy loss of draws, if the stream releases no sum
	Published   Published // size of the decisions
}

// Simulate opens a stream of the settings, and measures it.
func Simulate(s settings.Settings) (Opened, error) {
	model := s.Model()
	model.First = firstSecond
	o, seen, err := firstStream(model)
	if err == nil && !seen {
		o.Published, err = seldom(s, o.Published)
	}
	o.Published.Every, o.Published.Fixed = s.EmitEvery(), model.Encoding != decision.JSON
	return o, err
}

// firstStream opens a stream of the model, and measures it. All sealed states after a record have the same length, so
// it seals only the last state. seen is false if the first decision comes too late to be measured.
func firstStream(model streams.Model) (o Opened, seen bool, err error) {
	frozen, err := model.Learner.Params()
	if err != nil {
		return o, false, err
	}
	inc := state.NewIncarnation(state.Incarnation{Config: model.Settings, Params: frozen})
	opened, err := streams.OpenModel(model, frozen)
	if err != nil {
		return o, false, err
	}
	stream, err := opened.Open([32]byte{}, [32]byte{}, inc.Stream, inc.ID)
	if err != nil {
		return o, false, err
	}
	sealer, err := inc.Sealer()
	if err != nil {
		return o, false, err
	}
	o.Published, seen, err = publishes(stream, model.Clock)
	o.SealedState = len(sealer.Seal(nil, state.Position{}, stream.AppendState(nil)))
	o.Draws = stream.Guarantee().Draws
	return o, seen, err
}

// Limits of the number of events, and of the time, that plan simulates until the first decision.
const (
	mostPlanned = 1 << 17
	planFor     = 2 * time.Second
)

// seldom returns the published sizes if decisions of the first topic are far apart. It measures one such decision with
// an operator that publishes every decision, and adds the measured sizes of the second topic.
func seldom(s settings.Settings, actions Published) (published Published, err error) {
	interval := max(1, s.Batch) * max(1, s.EmitEvery())
	one, seen, err := firstStream(s.EmitAll().Model())
	if err != nil || !seen || actions.Events == 0 {
		return Published{Late: interval}, err
	}
	size := one.Published.Thinned / one.Published.Decided
	per := float64(interval) / actions.Events
	return Published{
		Bytes: size + per*actions.Bytes, Decisions: 1 + per*actions.Decisions, Events: float64(interval), Thinned: size,
		Decided: 1,
	}, nil
}

// firstSecond is a time with as many digits as a real one.
const firstSecond = 1_700_000_000

// publishes feeds empty events to a stream until a step publishes, or by the clock closes a step without events, and
// returns the sizes of the decisions. seen is false if no step has published to the first topic.
func publishes(stream *streams.Stream, clock steps.Clock) (published Published, seen bool, err error) {
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
	if !clock.Counts() {
		order := fetch.Order{Slot: clock.End(clock.Of(firstSecond)), Closes: clock.End(clock.Of(firstSecond))}
		walk.Position.Order = &state.Ordered{Clock: true, LeaderEpoch: -1, Slot: firstSecond}
		err = walk.Take(&fetch.Batch{Partition: -1, LeaderEpoch: -1, Order: &order}, func() int64 { return 0 })
		return published, seen, err
	}
	walk.Start()
	published, seen = Published{}, false // decisions at the opening are published only once, so they do not count
	record := [1]records.Record{{Public: records.Public{Timestamp: 1000 * firstSecond}, Unreadable: true}}
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

// Published is the published volume of a stream: the size of the decisions in all its topics, measured over some events
// without content. Most numbers of such decisions are noise, which always has many digits, but ends of intervals may
// still be short. The zero value means that the volume is unknown.
type Published struct {
	Bytes, Decisions, Events float64
	// bytes and number of decisions in the first topic, which ORIEL_EMIT_EVERY makes rarer
	Thinned, Decided float64
	Every            uint64 // ORIEL_EMIT_EVERY; 0: the operator does not have this setting
	Fixed            bool   // each number has 8 bytes, so all decisions have the same length
	// number of events before the first decision, if it is too large to simulate; otherwise 0
	Late uint64
}

// longEvent is the number of decision bytes per event above which the report gives advice.
const longEvent = 100

// Advised returns the number of steps from decision to decision that keeps decisions shorter than most events, or Every
// if they are. It is Every times a power of two.
func (p Published) Advised() uint64 {
	each := p.Thinned / p.Events
	if p.Every == 0 || !(each > longEvent) {
		return p.Every
	}
	return p.Every << bits.Len64(uint64(math.Ceil(each/longEvent))-1)
}
