package replay

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"oriel/cmd/internal/exit"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
	"oriel/state"
	"oriel/state/keys"
)

// Options are the flags of `oriel replay`, which errors name.
type Options struct {
	Seed      string // 64 hex digits; empty: random
	Separator string // text between the key or user in a line and the line's event; empty: lines have only events
	Partition int32
}

// Open opens an incarnation for a file. Its cluster and topic ids are zero, so that its noise is never the noise of a
// service.
func Open(model streams.Model, o Options) (*streams.Stream, error) {
	if o.Partition < 0 {
		return nil, exit.WrongUse("--partition: negative")
	}
	plan, err := model.Learner.Params()
	if err != nil {
		return nil, err
	}
	inc := state.NewIncarnation(state.Incarnation{
		Stream: strconv.Itoa(int(o.Partition)), Partition: o.Partition, Config: model.Settings, Params: plan,
	})
	secret := keys.NewSecret()
	if o.Seed != "" {
		raw, err := hex.DecodeString(o.Seed)
		if err != nil || len(raw) != len(secret) {
			return nil, exit.WrongUse("--seed: not 64 hex digits")
		}
		secret = keys.Secret(raw)
		inc.ID = state.SeededID(secret)
	}
	return streams.OpenStream(model, plan, inc.InitialKey(secret), [32]byte{}, inc.Stream, inc.ID)
}

// Summary counts what a replay consumed and decided.
type Summary struct {
	Lines, Null, Decisions int
	FirstNull              string // place and reason of the first null event
}

// Run reads the lines as events and writes each decision as a line of JSON.
func Run(
	ctx context.Context, w io.Writer, in io.Reader, model streams.Model, stream *streams.Stream, maxBytes int,
	o Options,
) (Summary, error) {
	var r Summary
	var failed error
	var printed []byte
	walk := streams.Walk{
		Stream: stream, Partition: o.Partition,
		Decided: func(_ uint8, _, line []byte) {
			r.Decisions++
			var err error
			if printed, err = decision.AppendLine(printed[:0], line); err == nil {
				_, err = w.Write(append(printed, '\n'))
			}
			if err != nil && failed == nil {
				failed = err
			}
		},
		Taken: func(_ *records.Record, _ int64, code text.Code) {
			if r.Lines++; code == text.OK {
				return
			}
			if r.Null++; r.Null == 1 {
				r.FirstNull = fmt.Sprintf("; the first is line %d: %s", r.Lines, code)
			}
		},
	}
	walk.Start()
	if o.Separator != "" {
		maxBytes += KeyBytes
	}
	record := make([]records.Record, 1)
	for line, err := range text.NewLines(in, maxBytes).All() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return r, err
		}
		record[0] = RecordOf(model, line, o.Separator)
		if len(line.Value)-len(record[0].Value) > KeyBytes {
			return r, fmt.Errorf("line %d: a key of more than %d bytes", line.Number+1, KeyBytes-len(o.Separator))
		}
		one := fetch.Batch{Partition: o.Partition, From: line.Number, Next: line.Number + 1, Records: record}
		switch err := walk.Take(&one, func() int64 { return one.Next }); {
		case errors.Is(err, streams.ErrEnded):
			return r, fmt.Errorf("line %d: the horizon is reached: the stream ends after %d steps (ORIEL_HORIZON), whose decisions are written", line.Number+1, stream.Steps())
		case err != nil:
			return r, err
		case failed != nil:
			return r, fmt.Errorf("write decisions: %w", failed)
		}
	}
	return r, nil
}

// RecordOf splits a line into user, key and value. If the model needs a user from a header, the line starts with the
// user and a separator; likewise for a key.
func RecordOf(m streams.Model, line text.Line, separator string) records.Record {
	r := records.Record{Public: records.Public{Offset: line.Number, Timestamp: decision.NoTime}, Value: line.Value}
	if m.Users != nil && m.Users.Header != "" {
		user, rest := CutKey(r.Value, separator)
		r.Headers, r.Value = records.HeadersOf(records.Header{Key: m.Users.Header, Value: user}), rest
	}
	if m.Keyed || m.Users != nil && m.Users.Header == "" {
		r.Key, r.Value = CutKey(r.Value, separator)
	}
	return r
}

// KeyBytes is the additional length that a line may have for its key, bytes.
const KeyBytes = 4 << 10

// CutKey splits a line at the first separator. The key is nil if there is none.
func CutKey(line []byte, separator string) (key, value []byte) {
	if separator == "" {
		return nil, line
	}
	if key, value, found := bytes.Cut(line, []byte(separator)); found {
		return key, value
	}
	return nil, line
}
