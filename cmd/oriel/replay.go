package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka"
	"oriel/pipeline/streams"
	"oriel/schemas"
	"oriel/state"
)

// replayOptions are the flags of `oriel replay`.
type replayOptions struct {
	events    string
	out       string
	seed      string
	separator string
	partition int32
	check     bool
	from      string
	save      string
}

func replayCommand() *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use: "replay --events FILE.ndjson [--partition P] [--out FILE] [--seed HEX]\n" +
			"  oriel replay --save FILE [--partition P]\n" +
			"  oriel replay --check --from FILE [--partition P]",
		Short: "Recompute decisions: of a file, or of a partition against what was published",
		Long: "With --events, replay steps over a file of event lines as an incarnation of its own and writes one line a decision; with\n" +
			"--seed (64 hex digits) the same bytes come out each time. It needs the settings of\n" +
			"`oriel run` about learning and privacy, and no brokers, topics or state directory. With --out it prints a summary.\n\n" +
			"With --save, it copies the partition's committed state, still sealed, to a checkpoint file. With --check, it starts from\n" +
			"such a checkpoint, recomputes all later decisions of the partition from the input topic and compares them byte for\n" +
			"byte with the decision topic.\n\n" +
			"--save and --check need what `oriel topics` needs.\n\n" +
			"For the data's owner only: whoever can replay guessed events has no privacy guarantee against them.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.events != "" && !o.check && o.save == "" && o.from == "":
				return replayFile(cmd, o)
			case o.check && o.from != "" && o.events == "" && o.save == "":
				return replayCheck(cmd, o)
			case o.save != "" && !o.check && o.from == "" && o.events == "":
				return replaySave(cmd, o)
			}
			return wrongUse("give one of --events FILE, --save FILE, or --check with --from FILE")
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.events, "events", "", "file of event lines (NDJSON); - reads standard input")
	f.StringVar(&o.out, "out", "", "file for the decisions; standard output when empty")
	f.StringVar(&o.seed, "seed", "", "secret of the incarnation, 64 hex digits; random when empty")
	f.Int32Var(&o.partition, "partition", 0, "partition: part of the stream's identity")
	f.BoolVar(&o.check, "check", false, "compare with the decision topic")
	f.StringVar(&o.from, "from", "", "checkpoint file to start from")
	f.StringVar(&o.save, "save", "", "write the partition's sealed state to a checkpoint file")
	f.StringVar(&o.separator, "key-separator", "", "each line is a user id, this text, and an event, as kcat -K has keys; for ORIEL_USER_ID, whether it says key or header:NAME. "+
		"An operator that reads record keys has its key there, after a user id that is a header's")
	for _, name := range []string{"out", "seed", "key-separator"} { // of --events
		cmd.MarkFlagsMutuallyExclusive(name, "check", "save")
	}
	return cmd
}

func replayFile(cmd *cobra.Command, o replayOptions) (err error) {
	s, err := settings.Load(os.Environ(), settings.Events, settings.Operator)
	if err != nil {
		return err
	}
	model, err := s.Model()
	if err != nil {
		return err
	}
	switch {
	case o.separator == "" && s.UserID != "":
		return wrongUse("--key-separator: missing; ORIEL_USER_ID is set, and each line must say its user before the event")
	case o.separator == "" && model.Keyed:
		return wrongUse("--key-separator: missing; ORIEL_OPERATOR reads record keys, and each line must say its key before the event")
	case o.separator != "" && s.UserID == "" && !model.Keyed:
		return wrongUse("--key-separator: given, but ORIEL_USER_ID is not set")
	}
	stream, err := openReplay(model, o)
	if err != nil {
		return err
	}
	in := os.Stdin
	if o.events != "-" {
		if in, err = os.Open(o.events); err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
	}
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if o.out != "" {
		if existing, err := os.Stat(o.out); err == nil && os.SameFile(existing, info) {
			return wrongUse("--out: the file of events")
		}
		f, err := os.Create(o.out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	total := info.Size()
	if !info.Mode().IsRegular() {
		total = -1 // a pipe
	}
	bar := newBar(cmd.ErrOrStderr(), total, "replay", true)
	defer func() { _ = bar.Finish() }()
	w := bufio.NewWriterSize(out, 1<<20)
	r, err := replayLines(cmd.Context(), w, io.TeeReader(in, bar), model, stream, s.MaxRecordBytes, o)
	if err = errors.Join(err, w.Flush()); err != nil {
		return err
	}
	if r.lines > 0 && r.null == r.lines {
		return fmt.Errorf("--events: none of %d lines is an event%s; is it NDJSON?", r.lines, r.firstNull)
	}
	if o.out == "" {
		return nil
	}
	fmt.Fprintf(cmd.OutOrStdout(), "lines: %d; null events: %d%s; decisions: %d\n",
		r.lines, r.null, r.firstNull, r.decisions)
	return nil
}

// openReplay opens an incarnation of a file: cluster and topic are zero, so that its noise is never that of a service.
func openReplay(model streams.Model, o replayOptions) (*streams.Stream, error) {
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
	return streams.OpenStream(model, plan, inc.InitialKey(secret), [32]byte{}, inc.Stream, inc.ID)
}

// replayed says what a replay took and gave.
type replayed struct {
	lines, null, decisions int
	firstNull              string // place and reason
}

// replayLines walks over the lines and writes each decision as a line.
func replayLines(
	ctx context.Context, w io.Writer, in io.Reader, model streams.Model, stream *streams.Stream, maxBytes int,
	o replayOptions,
) (replayed, error) {
	var r replayed
	var failed error
	walk := streams.Walk{
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

// named parts a line: a user that a header would name, and a key, are each before a separator, if the model asks for
// them.
func named(m streams.Model, line schemas.Line, separator string) kafka.Record {
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
