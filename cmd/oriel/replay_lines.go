package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"oriel/pipeline"
	"oriel/pipeline/kafka"
	"oriel/schemas"
	"oriel/state"
)

// replaying says how a file is replayed: the flags of `oriel replay` whose names its errors say.
type replaying struct {
	seed      string // 64 hex digits; empty: random
	separator string // what a line has behind a key or a user; empty: lines have neither
	partition int32
}

// openReplay opens an incarnation of a file: cluster and topic are zero, so that its noise is never that of a service.
func openReplay(model pipeline.Model, o replaying) (*pipeline.Stream, error) {
	if o.partition < 0 {
		return nil, wrongUse("--partition: negative")
	}
	plan, err := model.Learner.Params()
	if err != nil {
		return nil, err
	}
	inc := state.NewIncarnation(state.Incarnation{
		Stream: strconv.Itoa(int(o.partition)), Partition: o.partition, Config: model.Settings, Params: plan,
	})
	secret := state.NewSecret()
	if o.seed != "" {
		raw, err := hex.DecodeString(o.seed)
		if err != nil || len(raw) != len(secret) {
			return nil, wrongUse("--seed: not 64 hex digits")
		}
		secret = state.Secret(raw)
		inc.ID = state.SeededID(secret)
	}
	return pipeline.OpenStream(model, plan, inc.InitialKey(secret), [32]byte{}, inc.Stream, inc.ID)
}

// replayed says what a replay took and gave.
type replayed struct {
	lines, null, decisions int
	firstNull              string // place and reason
}

// replayLines walks over the lines and writes each decision as a line.
func replayLines(
	ctx context.Context, w io.Writer, in io.Reader, model pipeline.Model, stream *pipeline.Stream, maxBytes int,
	o replaying,
) (replayed, error) {
	var r replayed
	var failed error
	walk := pipeline.Walk{
		Stream: stream, Partition: o.partition,
		Decided: func(_ uint8, _, line []byte) {
			r.decisions++
			if _, err := w.Write(append(line, '\n')); err != nil && failed == nil {
				failed = err
			}
		},
		Taken: func(_ *kafka.Record, _ int64, code schemas.Code) {
			if r.lines++; code == schemas.OK {
				return
			}
			if r.null++; r.null == 1 {
				r.firstNull = fmt.Sprintf("; the first is line %d: %s", r.lines, code)
			}
		},
	}
	walk.Start()
	if o.separator != "" {
		maxBytes += keyBytes
	}
	record := make([]kafka.Record, 1)
	for line, err := range schemas.NewLines(in, maxBytes).All() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return r, err
		}
		record[0] = named(model, line, o.separator)
		if len(line.Value)-len(record[0].Value) > keyBytes {
			return r, fmt.Errorf("line %d: a key of more than %d bytes", line.Number+1, keyBytes-len(o.separator))
		}
		one := kafka.Batch{From: line.Number, Next: line.Number + 1, Records: record}
		switch err := walk.Take(&one, func() int64 { return one.Next }); {
		case errors.Is(err, pipeline.ErrEnded):
			return r, fmt.Errorf("line %d: the horizon is reached: the stream ends after %d steps (ORIEL_HORIZON), whose decisions are written", line.Number+1, stream.Steps())
		case err != nil:
			return r, err
		case failed != nil:
			return r, fmt.Errorf("write decisions: %w", failed)
		}
	}
	return r, nil
}

// named parts a line: a user that a header would name, and a key, are each before a separator, if the model asks for
// them.
func named(m pipeline.Model, line schemas.Line, separator string) kafka.Record {
	r := kafka.Record{Public: kafka.Public{Offset: line.Number}, Value: line.Value}
	if m.Users != nil && m.Users.Header != "" {
		user, rest := cutKey(r.Value, separator)
		r.Headers, r.Value = kafka.HeadersOf(kafka.Header{Key: m.Users.Header, Value: user}), rest
	}
	if m.Keyed || m.Users != nil && m.Users.Header == "" {
		r.Key, r.Value = cutKey(r.Value, separator)
	}
	return r
}

// keyBytes is what a line may be longer by when it has a key.
const keyBytes = 4 << 10

// cutKey parts a line at the first separator. The key is nil when there is none.
func cutKey(line []byte, separator string) (key, value []byte) {
	if separator == "" {
		return nil, line
	}
	if key, value, found := bytes.Cut(line, []byte(separator)); found {
		return key, value
	}
	return nil, line
}
