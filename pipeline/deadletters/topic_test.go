package deadletters

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/text"
	"oriel/state"
)

// history is the merged log of a whole topic, offset by offset, with the rows of its statuses.
type history struct {
	e      *env
	random *rand.Rand
	ends   []int64 // ends of the input partitions
	taken  []taken // the merged log of the whole topic
	sealed int     // number of offsets of the log that have rows
	want   map[string]int
	key    []byte // key of each record
}

type taken struct {
	partition int32
	offset    int64
	verdict   byte
}

// grow appends events to each partition, and orders them in ranges.
func (h *history) grow() {
	c := h.e.deployment.Config
	for range 2 + h.random.IntN(4) {
		p := int32(h.random.IntN(len(h.ends)))
		n := 1 + h.random.IntN(7)
		list := make([]records.Record, n)
		for i := range list {
			offset := h.ends[p] + int64(i)
			list[i] = records.Record{Key: h.key, Value: fmt.Appendf(nil, "%d.%d", p, offset)}
			verdict := []byte{none, valid, bad}[h.random.IntN(3)]
			h.taken = append(h.taken, taken{p, offset, verdict})
			if verdict == bad {
				h.want[fmt.Sprintf("%d/%d json_syntax %[1]d.%[2]d", p, offset)]++
			}
		}
		h.e.appendTo(c.Input, p, list...)
		h.ends[p] += int64(n)
	}
}

// seal writes rows of the merged log between two offsets, cut at random places.
func (h *history) seal(from, to int) {
	for from < to {
		n := min(to-from, 1+h.random.IntN(12))
		h.row(from, from+n)
		from += n
	}
	h.sealed = max(h.sealed, to)
}

func (h *history) row(from, to int) {
	var stretches []state.Stretch
	var verdicts []byte
	for _, r := range h.taken[from:to] {
		if n := len(stretches); n > 0 && stretches[n-1].Partition == r.partition {
			stretches[n-1].To++
		} else {
			stretches = append(stretches, state.Stretch{Partition: r.partition, From: r.offset, To: r.offset + 1})
		}
		verdicts = append(verdicts, r.verdict)
	}
	h.e.rowOf(int64(from), stretches, verdicts...)
}

// check compares all letters with the bad records, one by one: each has one letter, and a partition's letters ascend.
func (h *history) check() {
	h.e.t.Helper()
	got := map[string]int{}
	last := map[int32]int64{}
	for _, r := range h.e.log(h.e.deployment.Config.DeadLetter) {
		p, offset, _, _ := letterOf(h.e.deployment.Config.Input, r.Headers)
		if was, there := last[p]; there && offset <= was {
			h.e.t.Fatalf("partition %d: letter of offset %d behind that of %d", p, offset, was)
		}
		last[p] = offset
		got[fmt.Sprintf("%d/%d json_syntax %s", p, offset, r.Value)]++
	}
	if fmt.Sprint(got) != fmt.Sprint(h.want) { // fmt prints maps in key order, so equal texts mean equal maps
		h.e.t.Fatalf("letters %v\nwant %v", got, h.want)
	}
}

// TestEveryLetterOfAWholeTopicOnce checks that every bad record has exactly one letter, for random orders of
// partitions, random splits of rows and repeated rows. The group may lose its offsets in between.
func TestEveryLetterOfAWholeTopicOnce(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	e := newTopicEnv(t, 0, 4, 0)
	h := &history{e: e, random: rand.New(rand.NewPCG(seed, 0)), ends: []int64{0, 4, 0}, want: map[string]int{}}
	e.appendTo(e.deployment.Config.Input, 1, make([]records.Record, 4)...) // records before the stream's start
	for round := range 8 {
		h.grow()
		h.seal(h.sealed, len(h.taken)-h.random.IntN(3))
		h.seal(h.random.IntN(h.sealed+1), h.sealed) // rows for offsets that already have some
		switch round {
		case 2:
			e.dropOffset()
		case 3:
			e.check(topics.AddPartitions(t.Context(), e.client, e.deployment.Config.Input, 4))
			h.ends = append(h.ends, 0)
		case 4:
			e.dropOffsetOf(e.deployment.Config.Input, 1)
		case 5:
			e.deployment.Config.Group = "d.letters2"
		case 6:
			continue // the next process reads these rows
		}
		e.check(e.run())
		if len(e.notes) > 0 {
			t.Errorf("rows that all are there are missed: %q", e.notes)
		}
		if h.sealed == len(h.taken) {
			h.check()
		}
	}
	h.seal(h.sealed, len(h.taken))
	e.check(e.run())
	h.check()
}

// stretchesOf reads "2:5-7" as the offsets 5 and 6 of partition 2.
func stretchesOf(text string) (all []state.Stretch) {
	for part := range strings.FieldsSeq(text) {
		var s state.Stretch
		if _, err := fmt.Sscanf(part, "%d:%d-%d", &s.Partition, &s.From, &s.To); err != nil {
			panic(err)
		}
		all = append(all, s)
	}
	return all
}

// TestGapsOfAWholeTopic checks that missing rows leave a letter in each partition, before the partition's next letters,
// even if another process writes the next letters.
func TestGapsOfAWholeTopic(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		lose         func(e *env, write func())
	}{
		{"the brokers lost them", "verdicts_lost", func(*env, func()) {}},
		{"retention deleted them", "verdicts_deleted", func(e *env, write func()) {
			write()
			e.check(topics.DeleteRecords(e.t.Context(), e.client, e.deployment.Config.Verdicts, 0, 2))
		}},
		{"the topic was made again", "verdict_topic_made_again", func(e *env, _ func()) { e.remakeVerdicts() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newTopicEnv(t, 0, 10, 0)
			for p, n := range []int{30, 40, 30} {
				e.appendTo(e.deployment.Config.Input, int32(p), make([]records.Record, n)...)
			}
			all := func(n int) []byte { return slices.Repeat([]byte{bad}, n) }
			e.rowOf(0, stretchesOf("0:0-1 1:10-11"), all(2)...)
			e.check(e.run())
			want := "0/0 json_syntax , 1/10 json_syntax "
			e.wantWritten(want)
			// the lost offsets: "0:1-4 1:11-16 2:0-3"
			c.lose(e, func() { e.rowOf(2, stretchesOf("0:1-4 1:11-16 2:0-3"), all(11)...) })
			e.rowOf(13, stretchesOf("1:16-17 1:17-18")[:1], bad)
			e.check(e.run())
			want += fmt.Sprintf(", 1/11..16 lost %s , 1/16 json_syntax ", c.reason)
			e.wantWritten(want)
			e.wantNote("offsets 11 to 15 of partition 1 of the input have no verdicts")
			e.check(e.run())
			e.wantWritten(want)
			e.rowOf(14, stretchesOf("2:3-5 1:17-18"), none, bad, bad)
			e.check(e.run())
			want += fmt.Sprintf(", 1/17 json_syntax , 2/0..3 lost %s , 2/4 json_syntax ", c.reason)
			e.wantWritten(want)
			e.rowOf(17, stretchesOf("0:4-5"), bad)
			e.check(e.run())
			want += fmt.Sprintf(", 0/1..4 lost %s , 0/4 json_syntax ", c.reason)
			e.wantWritten(want)
			e.rowOf(19, stretchesOf("1:19-20"), bad)
			e.check(e.run())
			want += ", 1/18..19 lost verdicts_lost , 1/19 json_syntax " // the cause of the second gap, not of the first
			e.wantWritten(want)
			e.rowOf(20, stretchesOf("0:5-6 2:5-6 1:20-21"), all(3)...)
			e.check(e.run())
			want += ", 0/5 json_syntax , 1/20 json_syntax , 2/5 json_syntax "
			e.wantWritten(want)
			if len(e.notes) > 0 {
				t.Errorf("notes again: %q", e.notes)
			}
			e.deployment.Config.Group = "d.letters2" // a new group finds its position by the dead letters
			e.rowOf(23, stretchesOf("0:6-7"), bad)
			e.check(e.run())
			e.wantWritten(want + ", 0/6 json_syntax ")
		})
	}
}

// TestRecordsOfAWholeTopicThatAreGone checks that deleted records leave letters without content, which name the
// record's partition.
func TestRecordsOfAWholeTopicThatAreGone(t *testing.T) {
	e := newTopicEnv(t, 0, 0)
	c := e.deployment.Config
	for p := range int32(2) {
		e.appendTo(c.Input, p, records.Record{Value: []byte("a")}, records.Record{Value: []byte("b")})
	}
	e.check(topics.DeleteRecords(t.Context(), e.client, c.Input, 0, 1))
	e.rowOf(0, stretchesOf("1:0-1 0:0-2"), bad, bad, bad)
	e.check(e.run())
	e.wantWritten("0/0 lost json_syntax , 0/1 json_syntax b, 1/0 json_syntax a")
}

// TestTheLastLettersOfEachPartitionAreFound checks that the last letter of each partition is found, even if it is far
// back.
func TestTheLastLettersOfEachPartitionAreFound(t *testing.T) {
	e := newTopicEnv(t, 0, 0, 0)
	letters := make([]records.Record, 1100)
	for i := range letters {
		l := lostLetter("events", 1, int64(i), text.JSONSyntax)
		if i == 0 {
			l = gapLetter("events", 2, gap{from: 3, until: 9, why: rowsLost})
		}
		letters[i].Headers = records.HeadersOf(l.headers...)
	}
	e.append(e.deployment.Config.DeadLetter, letters...)
	task := &task{service: New(e.deployment, Options{})}
	e.check(task.describe(t.Context()))
	at, err := task.place(t.Context())
	e.check(err)
	if at.known || at.row != 0 || len(at.parts) != 2 || at.parts[1] != 1100 || at.parts[2] != 9 {
		t.Errorf("%+v", at)
	}
}

// TestLettersRefuseAnotherStreamSetting checks that an ORIEL_STREAM different from the deployment's is refused, because
// records of another stream would be copied.
func TestLettersRefuseAnotherStreamSetting(t *testing.T) {
	e := newTopicEnv(t, 0)
	e.rowOf(0, stretchesOf("0:0-1"), bad)
	e.deployment.Config.Order = ""
	e.refuses("ORIEL_STREAM differs from its value when the deployment was opened", "ORIEL_STREAM=topic")
	e = newEnv(t)
	e.row(0, bad)
	e.deployment.Config.Order = "d.order"
	e.refuses("ORIEL_STREAM differs from its value when the deployment was opened")
}

// TestMembersKeepTheOffsetsOfAWholeTopic checks that the group keeps offsets of the input, although no partition of the
// input is assigned.
func TestMembersKeepTheOffsetsOfAWholeTopic(t *testing.T) {
	c := deployment.Config{Group: "g", Input: "i", Verdicts: "v", Order: "o"}
	if m := member(c); m.Topic != "v" || m.Kept != "i" {
		t.Errorf("%+v", m)
	}
	if c.Order = ""; member(c).Topic != "v" || member(c).Kept != "" {
		t.Errorf("%+v", member(c))
	}
}

// TestRowsOfTheOtherKindAreRefused checks that a row without partitions is refused in the stream of a whole topic.
func TestRowsOfTheOtherKindAreRefused(t *testing.T) {
	e := newTopicEnv(t, 0, 0)
	e.appendTo(e.deployment.Config.Input, 1, make([]records.Record, 2)...)
	e.rowOf(0, stretchesOf("1:0-1"), bad)
	e.check(e.run())
	e.row(1, bad)
	e.refuses("at offset 1", "is no row", "has stretches")
}

// TestRowsOfEmptySteps checks that rows of steps by the clock that have no records have no letters, and that letters go
// on behind them: before the first record, between records, and as the last rows.
func TestRowsOfEmptySteps(t *testing.T) {
	e := newTopicEnv(t, 0, 0)
	slot := int64(60)
	empty := func(next int64) {
		row := state.StatusRow{From: state.Place{Slot: slot, Next: next}, To: state.Place{Slot: slot + 60, Next: next}}
		slot = row.To.Slot
		e.append(e.deployment.Config.Verdicts, records.Record{Value: e.sealer.SealStatuses(nil, row)})
	}
	empty(0)
	e.check(e.run())
	e.wantWritten("")
	e.appendTo(e.deployment.Config.Input, 1, make([]records.Record, 3)...)
	e.rowOf(0, stretchesOf("1:0-2"), valid, bad)
	empty(2)
	e.check(e.run())
	empty(2)
	e.rowOf(2, stretchesOf("1:2-3"), bad)
	empty(3)
	e.check(e.run())
	e.wantWritten("1/1 json_syntax , 1/2 json_syntax ")
	if len(e.notes) > 0 {
		t.Errorf("noted %q", e.notes)
	}
}

// TestTransactionsEndInTheMiddleOfTheRowsOfATopic checks that after a process ends between two transactions of a row,
// the next process continues in each partition.
func TestTransactionsEndInTheMiddleOfTheRowsOfATopic(t *testing.T) {
	t.Parallel()
	e := newTopicEnv(t, 0, 0, 0)
	e.deployment.Config.Memory = 1 // the smallest possible memory: 64 KiB per transaction
	h := &history{
		e: e, random: rand.New(rand.NewPCG(1, 1)), ends: []int64{0, 0, 0}, want: map[string]int{}, key: make([]byte, 9_000),
	}
	for range 12 {
		h.grow()
	}
	h.seal(0, len(h.taken))
	letters := 0
	for _, most := range []int{2, 1, 1} {
		for _, w := range e.interrupted(most) {
			if letters += w.Letters; w.Letters == 0 || w.Letters > 10 {
				t.Errorf("a transaction of %d letters", w.Letters)
			}
		}
	}
	if letters > len(h.want)-10 {
		t.Fatalf("%d of %d letters in transactions that were to be few", letters, len(h.want))
	}
	e.check(e.run())
	h.check()
}
