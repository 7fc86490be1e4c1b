package pipetest_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/order"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/replay"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
)

// named decodes values of one byte, the id of a schema. The value is an event if the schema is frozen and known in the
// record's partition.
type named struct {
	event.Decoder
	frozen    state.Schemas
	partition int32
	offset    int64
}

func (d *named) At(partition int32, offset int64) { d.partition, d.offset = partition, offset }

func (d *named) Decode(dst *event.Event, value []byte) text.Code {
	if s := d.frozen.Find(uint32(value[0])); s == nil || !s.Known(d.partition, d.offset) {
		return text.UnknownSchema
	}
	*dst = event.Event{Weight: 1}
	return text.OK
}

// schemasHistory is a deployment whose events name their schemas. sent holds each event's schema id, by partition.
type schemasHistory struct {
	*whole
	ids map[offset]byte
}

func newSchemas(t *testing.T, partitions int, topic bool) *schemasHistory {
	setup := pipetest.NewSetup()
	setup.Model.Writers = func(frozen state.Schemas) func(event.Config) (event.Decoder, error) {
		return func(event.Config) (event.Decoder, error) { return &named{frozen: frozen}, nil }
	}
	w := &whole{history: history{t: t, Deployment: simtest.New(t), setup: setup}, sent: make([]int, partitions)}
	if topic {
		w.setup = setup.WholeTopic()
	}
	w.check(w.setup.Prepare(t.Context(), w.Client(), partitions))
	return &schemasHistory{w, map[offset]byte{}}
}

func (h *schemasHistory) write(p int, ids ...byte) {
	h.t.Helper()
	list := make([]records.Record, len(ids))
	for i, id := range ids {
		list[i].Value = []byte{id}
		h.ids[offset{int32(p), int64(h.sent[p] + i)}] = id
	}
	h.check(logtest.Send(h.t.Context(), h.Client(), h.setup.Config.Input, int32(p), list...))
	h.sent[p] += len(ids)
	h.taken += len(ids)
}

// freeze adds schemas to the stream.
func (h *schemasHistory) freeze(all state.Schemas) {
	h.t.Helper()
	d := h.deployment()
	given, err := d.FreezeSchemas(h.t.Context(), func(context.Context) (state.Schemas, error) { return all, nil })
	if err != nil || !reflect.DeepEqual(given, all) {
		h.t.Fatalf("froze %v of %v: %v", given, all, err)
	}
}

// verdicts returns the verdict of each offset of the input, from all rows that were sent, committed or not. Two rows
// must not contradict each other.
func (h *schemasHistory) verdicts() map[offset]text.Code {
	h.t.Helper()
	sealer, err := sealerOf(h.t.Context(), h.setup, h.Client(), 0)
	h.check(err)
	all := map[offset]text.Code{}
	for _, r := range h.read(h.setup.Config.Verdicts, true) {
		row, err := sealer.OpenStatuses(r.Value)
		h.check(err)
		stretches := row.Stretches
		if stretches == nil {
			stretches = []state.Stretch{{From: row.From.Next, To: row.To.Next}}
		}
		for _, s := range stretches {
			for at := s.From; at < s.To; at++ {
				o := offset{s.Partition, at}
				code, _ := text.CodeOfStatus(row.Statuses[0])
				if before, is := all[o]; is && before != code {
					h.t.Errorf("%v was %v, and is %v", o, before, code)
				}
				all[o], row.Statuses = code, row.Statuses[1:]
			}
		}
	}
	return all
}

// TestSchemasAreAddedAfterSentEvents adds a schema while a transaction is open that has sent events of the schema as
// null events. They must stay null events, both for an owner that recomputes them and for a replay from the start.
func TestSchemasAreAddedAfterSentEvents(t *testing.T) {
	for _, partitions := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			h := newSchemas(t, partitions, partitions > 1)
			d := h.deployment()
			if _, err := d.AddSchemas(t.Context(), state.Schemas{{ID: 2}}); err == nil {
				t.Error("schemas were added to a stream that has none")
			}
			first := state.Schemas{{ID: 1, Text: "first"}}
			h.freeze(first)
			again, err := d.FreezeSchemas(t.Context(), func(context.Context) (state.Schemas, error) {
				return nil, errors.New("asked again")
			})
			if err != nil || again != nil {
				t.Errorf("schemas were given to streams that have theirs: %v, %v", again, err)
			}
			a := h.Start("a", simtest.NewDisk(), h.setup.Run)
			h.write(0, 1, 2, 1)
			time.Sleep(10 * time.Second)
			checkpoint, err := replay.Checkpoint(t.Context(), d, 0)
			h.check(err)

			// The commit is delayed until later requests have sent the decisions after it.
			h.Fail(simtest.Fault{
				Kind:   simtest.Kind{Member: "a", API: "EndTxn", Partition: simtest.AnyPartition},
				Effect: simtest.Late(20 * time.Second), Count: -1,
			})
			h.write(0, 2, 1)
			h.write(partitions-1, 1, 2, 2)
			time.Sleep(2 * time.Second)
			ends := slices.Clone(h.sent)
			added, err := d.AddSchemas(t.Context(), append(first, state.Schema{ID: 2, Text: "second"}))
			h.check(err)
			h.Mend()
			var since []state.SchemaSince
			for p, end := range ends {
				since = append(since, state.SchemaSince{Partition: int32(p), Offset: int64(end)})
			}
			if len(added) != 1 || len(added[0].Schemas) != 1 || added[0].Schemas[0].ID != 2 ||
				!slices.Equal(added[0].Since, since) {
				t.Errorf("added %+v, want from %v on", added, since)
			}
			h.write(0, 2, 3)
			h.write(partitions-1, 1, 2)
			time.Sleep(2 * time.Minute)
			h.check(a.Stop())

			want := map[offset]text.Code{}
			for o, id := range h.ids {
				if id == 3 || id == 2 && o.at < int64(ends[o.partition]) {
					want[o] = text.UnknownSchema
				} else {
					want[o] = text.OK
				}
			}
			if got := h.verdicts(); !maps.Equal(got, want) {
				t.Errorf("verdicts %v, want %v", got, want)
			}
			compared, err := replay.Check(t.Context(), h.deployment(), 0, checkpoint, func(int) {})
			if err != nil || compared != h.taken-3 {
				t.Errorf("compared %d decisions of %d: %v", compared, h.taken-3, err)
			}
		})
	}
}

// TestSchemasThatAreLeftOut freezes a schema as left out, and adds it later. Records that name it are null events until
// then, and an unchanged choice leaves the owner alone.
func TestSchemasThatAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSchemas(t, 1, false)
		d := h.deployment()
		h.freeze(state.Schemas{{ID: 1, Text: "first"}, {ID: 2, Text: "second", LeftOut: true}})
		a := h.Start("a", simtest.NewDisk(), h.setup.Run)
		h.write(0, 1, 2)
		time.Sleep(10 * time.Second)
		for _, again := range []state.Schemas{{{ID: 2, LeftOut: true}}, {{ID: 1, LeftOut: true}}} {
			if added, err := d.AddSchemas(t.Context(), again); err != nil || added != nil {
				t.Errorf("left out again: added %+v, %v", added, err)
			}
		}
		added, err := d.AddSchemas(t.Context(), state.Schemas{{ID: 2, Text: "second"}, {ID: 3, LeftOut: true}})
		h.check(err)
		if len(added) != 1 || len(added[0].Schemas) != 2 || added[0].Schemas[0].Since[0].Offset != 2 {
			t.Errorf("added %+v", added)
		}
		frozen, err := d.Frozen(t.Context(), 0)
		h.check(err)
		if len(frozen) != 3 || frozen.Find(2).LeftOut || !frozen.Find(3).LeftOut || frozen.Find(1).Since != nil {
			t.Errorf("frozen %+v", frozen)
		}
		h.write(0, 1, 2, 3)
		time.Sleep(2 * time.Minute)
		h.check(a.Stop())
		want := map[offset]text.Code{}
		for at, known := range []bool{true, false, true, true, false} {
			if want[offset{0, int64(at)}] = text.UnknownSchema; known {
				want[offset{0, int64(at)}] = text.OK
			}
		}
		if got := h.verdicts(); !maps.Equal(got, want) {
			t.Errorf("verdicts %v, want %v", got, want)
		}
	})
}

// TestTwoProcessesFreezeSchemas checks two processes that freeze schemas. While one still asks the registry, the other
// adds fewer schemas to the stream, and an owner decodes events with these. They must stay valid.
func TestTwoProcessesFreezeSchemas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSchemas(t, 1, false)
		d := h.deployment()
		first := state.Schemas{{ID: 1}}
		given, err := d.FreezeSchemas(t.Context(), func(context.Context) (state.Schemas, error) {
			h.freeze(first)
			a := h.Start("a", simtest.NewDisk(), h.setup.Run)
			h.write(0, 1, 2)
			time.Sleep(10 * time.Second)
			return state.Schemas{{ID: 1}, {ID: 2}}, a.Stop()
		})
		if err != nil || given != nil {
			t.Errorf("gave %v to a stream that has others: %v", given, err)
		}
		if frozen, err := d.Frozen(t.Context(), 0); err != nil || !reflect.DeepEqual(frozen, first) {
			t.Errorf("frozen %v, %v; want %v", frozen, err, first)
		}
	})
}

// TestSchemasAreAddedAfterTheGroupsOffset checks that a new schema becomes valid only after the group's offset. A
// replaced leader that does not know of its successor may return an end of the log that owners have passed. Here the
// group's offset is beyond the returned end.
func TestSchemasAreAddedAfterTheGroupsOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSchemas(t, 1, false)
		h.freeze(state.Schemas{{ID: 1}})
		h.write(0, 1, 1)
		d := h.deployment()
		c := h.setup.Config
		producer, err := produce.New(t.Context(), h.Client(), "another", time.Minute)
		h.check(err)
		h.check(producer.Begin(t.Context(), []kafka.TopicPartition{{Topic: c.Changelog, Partition: 0}}))
		h.check(producer.CommitOffsets(t.Context(), group.Membership{Group: c.Group, Generation: -1}, c.Input,
			[]group.Offset{{Partition: 0, Offset: 7}}))
		h.check(producer.End(t.Context(), true))
		added, err := d.AddSchemas(t.Context(), state.Schemas{{ID: 2}})
		h.check(err)
		if want := []state.SchemaSince{{Partition: 0, Offset: 7}}; len(added) != 1 || !slices.Equal(added[0].Since, want) {
			t.Errorf("added %+v, want from %v on", added, want)
		}
	})
}

// TestAStreamWithoutItsSchemasStops checks that a stream stops if a frozen schema is missing.
func TestAStreamWithoutItsSchemasStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSchemas(t, 1, false)
		h.write(0, 1)
		if said := h.stopped(); !strings.Contains(said, "no schemas") || !strings.Contains(said, "oriel topics") {
			t.Errorf("said %q", said)
		}
		if got := h.read(h.setup.Config.Decisions, true); len(got) > 0 {
			t.Errorf("%d decisions", len(got))
		}
	})
}

// TestAReplayKnowsSchemasThatWereAddedSince checks that a replay decodes with schemas that were added after its
// checkpoint. The blind machine's decisions do not depend on schemas, so the test asks the decoder.
func TestAReplayKnowsSchemasThatWereAddedSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSchemas(t, 1, false)
		d := h.deployment()
		h.freeze(state.Schemas{{ID: 1}})
		a := h.Start("a", simtest.NewDisk(), h.setup.Run)
		h.write(0, 1)
		time.Sleep(10 * time.Second)
		checkpoint, err := replay.Checkpoint(t.Context(), d, 0)
		h.check(err)
		_, err = d.AddSchemas(t.Context(), state.Schemas{{ID: 2}})
		h.check(err)
		h.write(0, 2)
		time.Sleep(time.Minute)
		h.check(a.Stop())
		var known []int
		opens := d.Model.Writers
		d.Model.Writers = func(frozen state.Schemas) func(event.Config) (event.Decoder, error) {
			known = append(known, len(frozen))
			return opens(frozen)
		}
		_, err = replay.Check(t.Context(), d, 0, checkpoint, func(int) {})
		if err != nil || len(known) == 0 || slices.Min(known) < 2 {
			t.Errorf("a replay knew %d schemas, want 2: %v", known, err)
		}
	})
}

// TestAReplayEndsBeforeSchemasThatAreAddedMeanwhile checks that a replay compares no decision whose events were decoded
// with schemas that it lacks.
func TestAReplayEndsBeforeSchemasThatAreAddedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSchemas(t, 1, false)
		d := h.deployment()
		h.freeze(state.Schemas{{ID: 1}})
		a := h.Start("a", simtest.NewDisk(), h.setup.Run)
		h.write(0, 1)
		time.Sleep(10 * time.Second)
		checkpoint, err := replay.Checkpoint(t.Context(), d, 0)
		h.check(err)
		h.write(0, 1, 1)
		time.Sleep(10 * time.Second)
		opens, adding := d.Model.Writers, true
		d.Model.Writers = func(frozen state.Schemas) func(event.Config) (event.Decoder, error) {
			if adding {
				adding = false
				if _, err := h.deployment().AddSchemas(t.Context(), state.Schemas{{ID: 2}}); err != nil {
					t.Error(err)
				}
				h.write(0, 2, 2)
				time.Sleep(time.Minute)
			}
			return opens(frozen)
		}
		compared, err := replay.Check(t.Context(), d, 0, checkpoint, func(int) {})
		if err != nil || adding || compared != 2 {
			t.Errorf("compared %d decisions, want the 2 that were published when it began: %v", compared, err)
		}
		h.check(a.Stop())
	})
}

// TestStreamsThatComeLaterKnowAllSchemas checks that the stream of an added partition has all schemas from its start,
// because it has no earlier events.
func TestStreamsThatComeLaterKnowAllSchemas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSchemas(t, 1, false)
		h.freeze(state.Schemas{{ID: 1}})
		d := h.deployment()
		_, err := d.AddSchemas(t.Context(), state.Schemas{{ID: 2}})
		h.check(err)
		h.check(topics.AddPartitions(t.Context(), h.Client(), h.setup.Config.Input, 2))
		h.check(h.setup.Topics(t.Context(), h.Client(), func(string) {}))
		h.freezeOthers(state.Schemas{{ID: 1}, {ID: 2, Since: []state.SchemaSince{}}})
	})
}

// freezeOthers copies the schemas of streams that have some to the other streams, and checks the result.
func (h *schemasHistory) freezeOthers(want state.Schemas) {
	h.t.Helper()
	d := h.deployment()
	given, err := d.FreezeSchemas(h.t.Context(), nil)
	if err != nil || !reflect.DeepEqual(given, want) {
		h.t.Errorf("gave %v, %v; want %v", given, err, want)
	}
	frozen, err := d.Frozen(h.t.Context(), 1)
	if err != nil || !reflect.DeepEqual(frozen, want) {
		h.t.Errorf("frozen %v, %v; want %v", frozen, err, want)
	}
}

// TestSchemasAreAddedAfterTheOrderLog checks where a schema becomes valid in the stream of a whole topic: at the end
// of the order log. No process reads beyond this end, but any process may have read up to it. The ends of input
// partitions do not matter.
func TestSchemasAreAddedAfterTheOrderLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSchemas(t, 2, true)
		h.freeze(state.Schemas{{ID: 1}})
		h.whole.order(order.Entry{Partition: 1, End: 100}, order.Entry{Partition: 1, End: 90})
		d := h.deployment()
		added, err := d.AddSchemas(t.Context(), state.Schemas{{ID: 2}})
		want := []state.SchemaSince{{Partition: 0}, {Partition: 1, Offset: 100}}
		if err != nil || len(added) != 1 || !slices.Equal(added[0].Since, want) {
			t.Errorf("added %+v, %v; want from %v on", added, err, want)
		}
	})
}
