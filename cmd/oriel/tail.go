package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
)

type tailOptions struct {
	topic     string
	partition int32 // −1: all partitions
	limit     int
	begin     bool
	follow    bool
	raw       bool
}

func tailCommand() *cobra.Command {
	var o tailOptions
	cmd := &cobra.Command{
		Use:   "tail --topic TOPIC",
		Short: "Show decisions as they are committed",
		Long: "Tail reads all partitions of a decision topic, or one, by committed records only, and prints a table, or each decision\n" +
			"as a line of JSON with --raw, whatever ORIEL_DECISIONS_FORMAT its deployment has. It starts with decisions published from\n" +
			"now on, unless --from-beginning or --follow=false says otherwise. It needs ORIEL_BROKERS only.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return host(cmd).WithClient(func(client *kafka.Client) error { return tail(cmd, client, o) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.topic, "topic", "", "decision topic")
	program.Var(f, &o.partition, "partition", -1, "partition to read; -1 reads all")
	program.VarP(f, &o.limit, "limit", "n", 0, "stop after this many decisions; 0 never stops")
	f.BoolVar(&o.begin, "from-beginning", false, "start with the oldest decisions that the topic still has")
	f.BoolVar(&o.follow, "follow", true, "wait for new decisions at the end of the topic; without this flag the command ends there")
	f.BoolVar(&o.raw, "raw", false, "print each decision as a line of JSON, and a record that is not a decision unchanged")
	_ = cmd.MarkFlagRequired("topic")
	return cmd
}

func tail(cmd *cobra.Command, client *kafka.Client, o tailOptions) error {
	topic, err := topics.Find(cmd.Context(), client, o.topic)
	if err != nil {
		return err
	}
	partitions := []int32{o.partition}
	switch {
	case o.partition < -1 || o.partition >= int32(topic.Partitions):
		return exit.WrongUse("--partition %d: topic %q has %d partitions", o.partition, o.topic, topic.Partitions)
	case o.partition == -1:
		partitions = partitions[:0]
		for p := range int32(topic.Partitions) {
			partitions = append(partitions, p)
		}
	}
	t := &tailing{options: o, client: client, out: cmd.OutOrStdout(), problems: cmd.ErrOrStderr()}
	if !o.raw {
		fmt.Fprintf(t.out, "%-8s %10s %-20s %10s %8s %10s  %s\n",
			"stream", "step", "mechanism", "window", "ε", "δ", "decision")
	}
	return t.read(cmd.Context(), partitions)
}

// tailing shows the records of several partitions, each partition in order.
type tailing struct {
	options  tailOptions
	client   *kafka.Client
	problems io.Writer // receives messages for people

	mu    sync.Mutex // guards the fields below
	out   io.Writer
	shown int
	idle  int // partitions that have been read to their end
}

// errEnough is the internal error with which a reader stops all others once the requested number of decisions is shown.
var errEnough = errors.New("as many decisions as asked for")

// read reads all partitions, one after another. If it follows new decisions, it reads them in parallel.
func (t *tailing) read(ctx context.Context, partitions []int32) error {
	if !t.options.follow {
		for _, p := range partitions {
			if err := t.partition(ctx, p, len(partitions)); errors.Is(err, errEnough) {
				return nil
			} else if err != nil {
				return err
			}
		}
		return nil
	}
	work, end := context.WithCancelCause(ctx)
	defer end(nil)
	var readers sync.WaitGroup
	for _, p := range partitions {
		readers.Go(func() {
			if err := t.partition(work, p, len(partitions)); err != nil && work.Err() == nil {
				end(err)
			}
		})
	}
	readers.Wait()
	if err := context.Cause(work); ctx.Err() == nil && !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

func (t *tailing) partition(ctx context.Context, p int32, of int) error {
	bounds, err := topics.BoundsOf(ctx, t.client, t.options.topic, p)
	if err != nil {
		return err
	}
	next := bounds.Stable
	if t.options.begin || !t.options.follow {
		next = bounds.Start
	}
	reader := fetch.NewReader(t.client, t.options.topic, p, next, fetch.Options{MaxWait: 250 * time.Millisecond})
	for waits := false; t.options.follow || next < bounds.Stable; {
		if !waits && next >= bounds.Stable {
			waits = true
			t.waiting(of)
		}
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return err
		}
		err = t.show(p, batch.Records)
		next = batch.Next
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// waiting prints, once, that the topic has no more decisions for the moment.
func (t *tailing) waiting(of int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle++; t.idle == of {
		fmt.Fprintln(t.problems, "waiting for new decisions; Ctrl-C ends")
	}
}

func (t *tailing) show(p int32, records []records.Record) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		if t.options.limit > 0 && t.shown == t.options.limit {
			return errEnough
		}
		if err := show(t.out, r.Value, t.options.raw); err != nil {
			return fmt.Errorf("%s partition %d offset %d: %w", t.options.topic, p, r.Offset, err)
		}
		if t.shown++; t.shown == t.options.limit {
			return errEnough
		}
	}
	return nil
}

func show(out io.Writer, line []byte, raw bool) error {
	if raw {
		if text, err := decision.AppendLine(nil, line); err == nil {
			line = text
		}
		_, err := fmt.Fprintf(out, "%s\n", line)
		return err
	}
	d, err := decision.Parse(line)
	if err != nil {
		return errors.New("not a decision")
	}
	_, err = fmt.Fprintf(out, "%-8s %10d %-20s %10s %8s %10s  %s%s\n", d.Stream, d.Step, d.Mechanism,
		windowText(d.Window), digits.Upper(d.Epsilon), digits.Upper(d.Delta),
		abbreviate(d.Point, marks(d.Extras)), further(dashed(d)))
	return err
}

// further returns the members that only some operators' decisions have, each as name=value. Each character that cannot
// be printed is replaced, so that the text cannot move the terminal's cursor.
func further(extras []decision.ExtraMember) string {
	const shown = 60 // largest number of characters shown of a value
	text := ""
	for _, x := range extras {
		value := []rune(x.JSON)
		if len(value) > shown {
			value = append(value[:shown], '…')
		}
		text += "  " + x.Name + "=" + string(value)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}

// windowText formats W, in steps; 0 stands for a guarantee without a window.
func windowText(window uint64) string {
	if window == 0 {
		return "life"
	}
	return strconv.FormatUint(window, 10)
}

// marks returns a decision's marks of the numbers that are shown. Without marks all numbers are shown.
func marks(extras []decision.ExtraMember) []float64 {
	var marks []float64
	for _, x := range extras {
		if x.Name == "shown" && json.Unmarshal([]byte(x.JSON), &marks) != nil {
			return nil
		}
	}
	return marks
}

// differences is the suffix of members with differences. The marks of these members follow the marks of the decision's
// own numbers.
const differences = "_difference"

// dashed returns the members of a decision, with a dash in place of each difference whose mark is 0. Marks are ordered
// by view, then by member. The number of views equals the number of deviations of counts.
func dashed(d decision.Decision) []decision.ExtraMember {
	marks, views := marks(d.Extras), 0
	var lists [][]json.Number // numbers of the differences, by member
	for _, x := range d.Extras {
		var list []json.Number
		if json.Unmarshal([]byte(x.JSON), &list) != nil {
			continue
		}
		switch {
		case x.Name == "count_deviation":
			views = len(list)
		case strings.HasSuffix(x.Name, differences):
			lists = append(lists, list)
		}
	}
	if views == 0 || len(lists) == 0 {
		return d.Extras
	}
	size, extras, member := len(lists[0])/views, slices.Clone(d.Extras), 0
	other := func(list []json.Number) bool { return len(list) != size*views }
	if size == 0 || slices.ContainsFunc(lists, other) || len(marks) != len(d.Point)+len(lists)*size*views {
		return d.Extras // there are no marks, or the members belong to another operator
	}
	for i, x := range extras {
		if !strings.HasSuffix(x.Name, differences) {
			continue
		}
		var shown []string
		for k, number := range lists[member] {
			view := k / size
			text := string(number)
			if marks[len(d.Point)+(view*len(lists)+member)*size+k%size] == 0 {
				text = "–"
			}
			shown = append(shown, text)
		}
		extras[i].JSON = "[" + strings.Join(shown, ",") + "]"
		member++
	}
	return extras
}

// abbreviate returns the first coordinates of a decision, with a dash in place of each coordinate whose mark is 0,
// because it is little more than noise.
func abbreviate(point, marks []float64) string {
	const shown = 6
	text := "["
	for i, v := range point {
		if i == shown {
			return text + " … " + strconv.Itoa(len(point)) + " coordinates]"
		}
		if i > 0 {
			text += " "
		}
		if i < len(marks) && marks[i] == 0 {
			text += "–"
			continue
		}
		text += strconv.FormatFloat(v+0, 'g', 4, 64) // −0 is 0
	}
	return text + "]"
}
