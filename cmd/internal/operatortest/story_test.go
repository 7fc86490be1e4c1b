package operatortest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
	"oriel/state"
)

// play plays every story of a folder, which must contain some. more has additional settings, ORIEL_NAME=VALUE, for all
// streams; transcripts do not show them.
func play(t *testing.T, dir string, more ...string) {
	t.Helper()
	pipetest.EachStory(t, dir, func(t *testing.T, path string) {
		s := &story{dir: dir, more: more}
		datadriven.RunTest(t, path, s.play)
	})
}

// story is a stream and all records that it has consumed.
type story struct {
	dir     string
	more    []string          // additional settings
	env     map[string]string // all settings of the stream
	model   streams.Model
	plan    []byte
	sealer  *state.Sealer
	numbers *operators.Numbers
	digits  int
	show    []string // members of decisions that the transcript shows; nil: all
	hex     bool     // records are bytes in hexadecimal, separated by spaces

	*life
	shadow *streams.Stream // a copy of the stream that consumes a record on trial
}

// life is one process of a stream: it starts at step 0 or from a sealed state.
type life struct {
	walk      streams.Walk
	decisions []published
	log       []taken
	refused   error // error for the record after the log
	slot      int64 // second of the next record, by the clock
}

// first is the first second of stories by the clock.
const first = 7 * 24 * 3600

// published is a decision as written to its topic.
type published struct {
	output    uint8
	key, line string
}

// taken is a consumed record of the log, with the state after the record.
type taken struct {
	record    records.Record
	code      text.Code
	decisions int    // number of decisions up to and including this record
	sealed    []byte // sealed state after this record
	slot      int64
	segments  []state.Record // what the save after this record writes beside the state
}

// play executes one command.
func (s *story) play(t *testing.T, c *datadriven.TestData) string {
	t.Helper()
	if s.life == nil && c.Cmd != "open" {
		c.Fatalf(t, "a story begins with open")
	}
	command, known := map[string]func(*testing.T, *datadriven.TestData) string{
		"open": s.open, "records": s.records, "pass": s.pass, "would": s.would, "kill": s.kill, "replay": s.replay,
		"exchange": s.exchange, "service": s.service, "time": s.time,
	}[c.Cmd]
	if !known {
		c.Fatalf(t, "no such command")
	}
	return command(t, c)
}

// at is the prefix of settings that name files beside the stories.
const at = "@/"

func (s *story) open(t *testing.T, c *datadriven.TestData) string {
	s.life, s.digits, s.show, s.hex = nil, 2, nil, c.HasArg("hex")
	c.MaybeScanArgs(t, "digits", &s.digits)
	if show, given := c.Arg("show"); given {
		s.show = show.Vals
	}
	environ := slices.Clone(s.more)
	for line := range strings.Lines(c.Input) {
		line = strings.ReplaceAll(line, "="+at, "="+s.dir+string(os.PathSeparator))
		environ = append(environ, "ORIEL_"+strings.TrimSuffix(line, "\n"))
	}
	s.env = map[string]string{}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		s.env[name] = value
	}
	given, err := settings.Load(environ, settings.Events, settings.Operator)
	if err != nil {
		return err.Error()
	}
	learner := given.Learner()
	operator := learner.Operator()
	s.numbers = operators.NumbersOf(operator)
	s.model = given.Model()
	s.model.First = first
	if s.plan, err = s.model.Learner.Params(); err != nil {
		return err.Error()
	}
	if s.sealer, err = state.NewIncarnation(state.Incarnation{Stream: "0"}).Sealer(); err != nil {
		c.Fatalf(t, "%v", err)
	}
	s.life, s.shadow = s.begin(t), s.stream(t)
	return promise(s.walk.Stream.Guarantee()) + s.transcript(t, s.decisions)
}

// stream opens a stream at step 0. Its key does not depend on settings and plan, so that a story keeps its noise if
// settings or plan get a new line.
func (s *story) stream(t *testing.T) *streams.Stream {
	t.Helper()
	key := sha256.Sum256([]byte("a key for stories"))
	stream, err := streams.OpenStream(s.model, s.plan, key, [32]byte{1}, "0", [16]byte{})
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// begin opens a life at step 0 and the start of the log.
func (s *story) begin(t *testing.T) *life {
	t.Helper()
	at := state.Position{LeaderEpoch: -1, Semantics: streams.Semantics}
	if !s.model.Clock.Counts() {
		at.Order = &state.Ordered{Clock: true, Slot: first, LeaderEpoch: -1}
	}
	l := s.from(t, at)
	l.walk.Start()
	return l
}

// from opens a life at step 0 and at position p of the log.
func (s *story) from(t *testing.T, p state.Position) *life {
	t.Helper()
	l := new(life)
	l.walk = streams.Walk{
		Stream: s.stream(t), Position: p,
		Decided: func(output uint8, key, line []byte) {
			l.decisions = append(l.decisions, published{output, string(key), string(line)})
		},
		Taken: func(r *records.Record, _ int64, code text.Code) {
			l.log = append(l.log, taken{record: *r, code: code, decisions: len(l.decisions), slot: l.slot})
		},
	}
	if p.Order != nil {
		l.slot = p.Order.Slot
	}
	return l
}

// batch returns a batch of records from an offset on, by the clock in the present slot.
func (l *life) batch(from int64, all ...records.Record) *fetch.Batch {
	b := &fetch.Batch{From: from, Next: from + int64(len(all)), Records: all}
	if l.walk.Position.Order != nil {
		b.LeaderEpoch = -1
		b.Order = &fetch.Order{Slot: l.slot, Closes: l.slot, End: b.Next, LeaderEpoch: -1}
	}
	return b
}

// save returns the state, and what belongs to it beside it.
func (l *life) save(s *story) (private []byte, segments []state.Record) {
	segments = l.walk.Stream.Save(nil, s.sealer)
	return l.walk.Stream.AppendState(nil), segments
}

// time passes, and closes the steps that end. Without an argument it is the end of the open step.
func (s *story) time(t *testing.T, c *datadriven.TestData) string {
	seconds := s.model.Clock.Length
	c.MaybeScanArgs(t, "seconds", &seconds)
	from := len(s.decisions)
	s.slot += seconds
	s.passes(t)
	return s.transcript(t, s.decisions[from:])
}

// passes takes the walk to the present slot.
func (l *life) passes(t *testing.T) {
	t.Helper()
	if err := l.walk.Take(l.batch(l.walk.Position.Next), func() int64 { return streams.Untaken }); err != nil {
		t.Fatal(err)
	}
}

// take consumes the next record, and reports whether it was accepted.
func (l *life) take(s *story, r records.Record) bool {
	batch := l.batch(r.Offset, r)
	if l.refused = l.walk.Take(batch, func() int64 { return batch.Next }); l.refused != nil {
		return false
	}
	last := &l.log[len(l.log)-1]
	last.decisions = len(l.decisions)
	private, segments := l.save(s)
	last.sealed, last.segments = s.sealer.Seal(nil, l.walk.Position, private), segments
	return true
}

// next returns the record that a line of a story describes.
func (s *story) next(line string) records.Record {
	at := records.Public{Offset: s.walk.Position.Next, Timestamp: decision.NoTime}
	r := records.Record{Public: at, Value: []byte(line)}
	if s.hex {
		value, err := hex.DecodeString(strings.ReplaceAll(line, " ", ""))
		if err != nil {
			panic("BUG: a story: " + err.Error())
		}
		r.Value = value
	}
	if key, value, keyed := strings.Cut(line, "|"); keyed && (s.model.Keyed || s.model.Users != nil) {
		r.Key, r.Value = []byte(key), []byte(value)
	}
	return r
}

// addsTo is adds or, by the clock, returns the state before the record: a record that adds something changes it.
func (s *story) addsTo(t *testing.T, r records.Record) (adds bool, before []byte) {
	t.Helper()
	if s.walk.Position.Order == nil {
		return s.adds(t, r), nil
	}
	before, _ = s.save(s)
	return false, before
}

// adds reports whether a record adds something: in its place, a record without a readable value would leave another
// state.
func (s *story) adds(t *testing.T, r records.Record) bool {
	t.Helper()
	before := s.walk.Stream.AppendState(nil)
	after := func(r records.Record) string {
		if err := s.shadow.Restore(before); err != nil {
			t.Fatal(err)
		}
		walk := streams.Walk{
			Stream: s.shadow, Position: s.walk.Position,
			Decided: func(uint8, []byte, []byte) {}, Taken: func(*records.Record, int64, text.Code) {},
		}
		if walk.Take(&fetch.Batch{From: r.Offset, Next: r.Offset + 1, Records: []records.Record{r}},
			func() int64 { return r.Offset + 1 }) != nil {
			return string(before)
		}
		return string(s.shadow.AppendState(nil))
	}
	return after(r) != after(records.Record{Public: r.Public, Key: r.Key, Unreadable: true})
}

func (s *story) records(t *testing.T, c *datadriven.TestData) string {
	times := 1
	c.MaybeScanArgs(t, "times", &times)
	var lines []string
	for range times {
		lines = slices.AppendSeq(lines, strings.SplitSeq(strings.TrimSuffix(c.Input, "\n"), "\n"))
	}
	return s.taking(t, c, lines, true)
}

func (s *story) pass(t *testing.T, c *datadriven.TestData) string {
	var n int
	c.ScanArgs(t, "n", &n)
	return s.taking(t, c, make([]string, n), false)
}

// taking consumes lines and returns the output. If each is true, the output has the result of every line.
func (s *story) taking(t *testing.T, c *datadriven.TestData, lines []string, each bool) string {
	t.Helper()
	var said strings.Builder
	from := len(s.decisions)
	shown := from
	for _, line := range lines {
		r := s.next(line)
		adds, before := s.addsTo(t, r)
		if !s.take(s, r) {
			said.WriteString(s.refused.Error() + "\n")
			break
		}
		if before != nil {
			after, _ := s.save(s)
			adds = !bytes.Equal(before, after)
		}
		switch code := s.log[len(s.log)-1].code; {
		case !each:
		case code != text.OK:
			said.WriteString("record " + strconv.FormatInt(r.Offset, 10) + " is a null event: " + code.String() + "\n")
		case !adds:
			said.WriteString("record " + strconv.FormatInt(r.Offset, 10) + " adds nothing\n")
		}
		if !c.HasArg("last") {
			said.WriteString(s.transcript(t, s.decisions[shown:]))
			shown = len(s.decisions)
		}
	}
	if c.HasArg("last") {
		said.WriteString(s.lastOf(t, s.decisions[from:]))
	}
	return said.String()
}
