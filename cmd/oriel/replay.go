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
	"oriel/mechanisms/noise"
	"oriel/pipeline"
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
		Use:   "replay --events FILE.ndjson [--partition P] [--out FILE] [--seed HEX]\n  oriel replay --save FILE [--partition P]\n  oriel replay --check --from FILE [--partition P]",
		Short: "Recompute decisions: of a file, or of a partition against what was published",
		Long: "With --events, replay steps over a file of event lines as an incarnation of its own and writes one line a decision; with\n" +
			"--seed (64 hex digits) the same bytes come out each time. It needs the settings of\n" +
			"`oriel run` about learning and privacy, and no brokers, topics or state directory. With --out it prints a summary.\n\n" +
			"With --save, it copies the partition's committed state, still sealed, to a checkpoint file. With --check, it starts from\n" +
			"such a checkpoint, recomputes all later decisions of the partition from the input topic and compares them byte for\n" +
			"byte with the decision topic.\n\n" +
			"--save and --check need what `oriel topics` needs.\n\nFor the data's owner only: whoever can replay guessed events has no privacy guarantee against them.",
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
	f.StringVar(&o.events, "events", "", "file of event lines (NDJSON)")
	f.StringVar(&o.out, "out", "", "file for the decisions; standard output when empty")
	f.StringVar(&o.seed, "seed", "", "secret of the incarnation, 64 hex digits; random when empty")
	f.Int32Var(&o.partition, "partition", 0, "partition: part of the stream's identity")
	f.BoolVar(&o.check, "check", false, "compare with the decision topic")
	f.StringVar(&o.from, "from", "", "checkpoint file to start from")
	f.StringVar(&o.save, "save", "", "write the partition's sealed state to a checkpoint file")
	f.StringVar(&o.separator, "key-separator", "", "each line is a user id, this text, and an event, as kcat -K has keys; for ORIEL_USER_ID, whether it says key or header:NAME")
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
	case o.separator != "" && s.UserID == "":
		return wrongUse("--key-separator: given, but ORIEL_USER_ID is not set")
	}
	stream, err := openReplay(model, o)
	if err != nil {
		return err
	}
	in, err := os.Open(o.events)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
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
	bar := newBar(cmd.ErrOrStderr(), info.Size(), "replay", true)
	defer func() { _ = bar.Finish() }()
	w := bufio.NewWriterSize(out, 1<<20)
	r, err := replayLines(cmd.Context(), w, io.TeeReader(in, bar), stream, s.MaxRecordBytes, o)
	if err = errors.Join(err, w.Flush()); err != nil {
		return err
	}
	if r.lines > 0 && r.null == r.lines {
		return fmt.Errorf("--events: none of %d lines is an event%s; is it NDJSON?", r.lines, r.firstNull)
	}
	if o.out == "" {
		return nil
	}
	fmt.Fprintf(cmd.OutOrStdout(), "lines: %d; null events: %d%s; decisions: %d\n", r.lines, r.null, r.firstNull, r.decisions)
	return nil
}

// openReplay opens an incarnation of a file: cluster and topic are zero, so that its noise is never that of a service.
func openReplay(model pipeline.Model, o replayOptions) (*pipeline.Stream, error) {
	if o.partition < 0 {
		return nil, wrongUse("--partition: negative")
	}
	plan, err := model.Plan()
	if err != nil {
		return nil, err
	}
	inc := state.NewIncarnation(state.Incarnation{
		Stream: strconv.Itoa(int(o.partition)), Partition: o.partition, Config: model.Settings, Plan: plan,
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

// replayLines steps over each line and writes each decision as a line.
func replayLines(ctx context.Context, w io.Writer, in io.Reader, stream *pipeline.Stream, maxBytes int, o replayOptions) (replayed, error) {
	var r replayed
	var failed error
	emit := func(line []byte) {
		r.decisions++
		if _, err := w.Write(append(line, '\n')); err != nil && failed == nil {
			failed = err
		}
	}
	stream.Start(emit)
	if o.separator != "" {
		maxBytes += keyBytes
	}
	lines := schemas.NewLines(in, maxBytes)
	for failed == nil {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return r, err
		}
		if stream.Ended() {
			return r, fmt.Errorf("line %d: the horizon is reached: the stream ends after %d steps (ORIEL_HORIZON), whose decisions are written", line.Number+1, stream.Steps())
		}
		r.lines++
		in := pipeline.Input{Identity: noise.Identity{Partition: o.partition, Offset: line.Number}, Value: line.Value}
		if o.separator != "" {
			var key []byte
			if key, in.Value = cutKey(line.Value, o.separator); len(key)+len(o.separator) > keyBytes {
				return r, fmt.Errorf("line %d: a key of more than %d bytes", r.lines, keyBytes-len(o.separator))
			}
			in.User = stream.Named(key)
		}
		code := stream.Take(in, emit)
		if code != schemas.OK {
			if r.null++; r.null == 1 {
				r.firstNull = fmt.Sprintf("; the first is line %d: %s", r.lines, code)
			}
		}
	}
	return r, fmt.Errorf("write decisions: %w", failed)
}

// keyBytes is what a line may be longer by when it has a key.
const keyBytes = 4 << 10
