package deadletters

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
)

// TestGapsAreMarked checks that letters continue after a gap, and that one letter stands for the gap.
func TestGapsAreMarked(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(*env) // runs after rows were read up to offset 2
		want    string
		note    string
	}{
		{
			"behind rows that were not read yet", func(e *env) {
				e.row(2, bad)
				e.row(6, bad)
			},
			"2 json_syntax 2, 3..6 lost verdicts_lost , 6 json_syntax 6", "offsets 3 to 5 of the input",
		},
		{
			"the brokers lost them", func(e *env) { e.row(5, bad) },
			"2..5 lost verdicts_lost , 5 json_syntax 5", "the brokers have lost their verdicts",
		},
		{
			"retention deleted them", func(e *env) {
				e.row(2, bad, bad, bad)
				e.row(5, bad)
				e.check(topics.DeleteRecords(e.t.Context(), e.client, e.deployment.Config.Verdicts, 0, 2))
			},
			"2..5 lost verdicts_deleted , 5 json_syntax 5", "were deleted before they were read",
		},
		{
			"the topic was made again", func(e *env) {
				e.row(2, bad, bad, bad)
				e.remakeVerdicts()
				e.row(5, bad)
			},
			"2..5 lost verdict_topic_made_again , 5 json_syntax 5", "the verdict topic was deleted and made again",
		},
		{
			"the offset was deleted", func(e *env) {
				e.row(5, bad)
				e.dropOffset()
			},
			"2..5 lost verdicts_lost , 5 json_syntax 5", "the brokers have lost their verdicts",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.events(20)
			e.row(0, bad, valid)
			e.check(e.run())
			c.between(e)
			e.check(e.run())
			e.wantWritten("0 json_syntax 0, " + c.want)
			e.wantNote(c.note)
			e.check(e.run())
			e.wantWritten("0 json_syntax 0, " + c.want)
			if len(e.notes) > 0 {
				t.Errorf("notes again: %q", e.notes)
			}
			e.row(e.next(), bad)
			e.check(e.run())
			if got := e.written(); !strings.HasSuffix(got, fmt.Sprintf(", %d json_syntax %[1]d", e.next()-1)) {
				t.Errorf("letters do not go on: %q", got)
			}
		})
	}
}

// next returns the input offset after the last row.
func (e *env) next() int64 {
	e.t.Helper()
	rows := e.log(e.deployment.Config.Verdicts)
	row, err := e.sealer.OpenStatuses(rows[len(rows)-1].Value)
	e.check(err)
	return row.To.Next
}

// remakeVerdicts deletes the verdict topic, and with it the group's offsets for it, and creates it again.
func (e *env) remakeVerdicts() {
	e.t.Helper()
	c := e.deployment.Config
	e.check(logtest.Delete(e.t.Context(), e.client, c.Verdicts))
	e.check(topics.Create(e.t.Context(), e.client, c.Verdicts, 1, 1, nil))
	e.dropOffset()
}

// dropOffset deletes the group's offset for the verdict topic, as brokers do after a while, or an administrator's tool.
func (e *env) dropOffset() {
	e.t.Helper()
	e.dropOffsetOf(e.deployment.Config.Verdicts, 0)
}

func (e *env) dropOffsetOf(name string, partition int32) {
	e.t.Helper()
	c := e.deployment.Config
	admin, err := kgo.NewClient(kgo.SeedBrokers(e.addr), kgo.Dialer(e.dial))
	e.check(err)
	defer admin.Close()
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = c.Group
	topic := kmsg.NewOffsetDeleteRequestTopic()
	topic.Topic = name
	topic.Partitions = []kmsg.OffsetDeleteRequestTopicPartition{{Partition: partition}}
	req.Topics = append(req.Topics, topic)
	_, err = req.RequestWith(e.t.Context(), admin)
	e.check(err)
	at, err := group.CommittedOffset(e.t.Context(), e.client, c.Group, name, partition)
	e.check(err)
	if at != -1 {
		e.t.Fatalf("the group still has the offset %d", at)
	}
}

// TestARunningProcessOutlivesItsVerdicts checks that a process continues when the verdict topic is recreated, because
// only letters are lost.
func TestARunningProcessOutlivesItsVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := simulated(t).with(deployment.Config{}, 1).opened()
		e.events(20)
		e.row(0, bad, valid)
		e.row(2, valid)
		written := make(chan Written, 10)
		ended := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		service := New(e.deployment, Options{Listen: Listener{Written: func(w Written) { written <- w }}})
		go func() { ended <- service.Run(ctx) }()
		for within(t, written).To < 3 {
		}
		e.row(3, bad, bad)
		if w := within(t, written); w.Letters != 2 || w.To != 5 {
			t.Errorf("%+v", w)
		}
		e.remakeVerdicts()
		e.row(7, bad)
		select {
		case w := <-written:
			if w.Letters != 2 || w.Lost != 1 || w.To != 8 {
				t.Errorf("%+v", w)
			}
		case err := <-ended:
			t.Fatalf("ended with %v", err)
		}
		cancel()
		e.check(<-ended)
		e.wantWritten("0 json_syntax 0, 3 json_syntax 3, 4 json_syntax 4, 5..7 lost verdict_topic_made_again , 7 json_syntax 7")
	})
}

// TestVerdictsThatAreMissingAreWaitedFor checks that without the verdict topic a partition is parked with a message
// that has the remedy, and that it continues without a restart after the remedy.
func TestVerdictsThatAreMissingAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := simulated(t).with(deployment.Config{}, 1).opened()
		e.events(20)
		e.row(0, bad, valid)
		e.check(e.run())
		c := e.deployment.Config
		e.check(logtest.Delete(e.t.Context(), e.client, c.Verdicts))
		e.refuses("verdict topic \"d.verdicts\" does not exist", "Run `oriel topics`", "letters that were not written are lost",
			"nothing else is")
		e.check(deployment.CreateTopics(t.Context(), e.client, c, func(string) {}))
		e.row(4, bad)
		e.check(e.run())
		e.wantWritten("0 json_syntax 0, 2..4 lost verdict_topic_made_again , 4 json_syntax 4")
	})
}

// TestRowsThatBrokersLost uses a verdict topic that ends before the offset up to which it was read. New rows may have
// offsets of lost rows; they must be read.
func TestRowsThatBrokersLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := simulated(t).with(deployment.Config{}, 1).opened()
		e.events(20)
		e.row(0, bad)
		e.check(e.run())
		c := e.deployment.Config
		producer, err := produce.New(t.Context(), e.client, "lost", time.Minute)
		e.check(err)
		e.check(producer.Begin(t.Context(), []kafka.TopicPartition{{Topic: c.DeadLetter}}))
		at := []group.Offset{{Offset: 50, Note: note(e.deployment.Topics.Verdicts.ID, 1, cause{})}}
		e.check(producer.CommitOffsets(t.Context(), group.Membership{Group: c.Group, Generation: -1}, c.Verdicts, at))
		e.check(producer.End(t.Context(), true))
		e.row(1, bad) // takes the offset of a row that was read before
		e.row(4, bad)
		e.check(e.run())
		e.wantWritten("0 json_syntax 0, 1 json_syntax 1, 2..4 lost verdicts_lost , 4 json_syntax 4")
		e.check(e.run())
		e.wantWritten("0 json_syntax 0, 1 json_syntax 1, 2..4 lost verdicts_lost , 4 json_syntax 4")
	})
}

// TestForgottenGroupContinuesAfterTheLastLetter uses a group without offsets, and checks that letters continue after
// the last one. Brokers delete the offsets of a group that was unused for a week.
func TestForgottenGroupContinuesAfterTheLastLetter(t *testing.T) {
	e := newEnv(t)
	e.events(20)
	e.row(0, bad, valid, bad)
	e.check(e.run())
	c := e.deployment.Config
	e.append(c.DeadLetter, records.Record{Value: []byte("of another input"), Headers: records.HeadersOf(
		records.Header{Key: headerTopic, Value: []byte("other")},
		records.Header{Key: headerPartition, Value: []byte("0")},
		records.Header{Key: headerOffset, Value: []byte("17")},
	)})
	e.row(3, valid, bad)
	e.deployment.Config.Group = "d.letters2"
	e.check(e.run())
	if len(e.notes) > 0 {
		t.Errorf("rows that all are there are missed: %q", e.notes)
	}
	e.wantWritten("0 json_syntax 0, 2 json_syntax 2, 17  of another input, 4 json_syntax 4")
}

// TestRowsThatRetentionDeleted checks that deleted rows make a gap only if their letters were not written before.
func TestRowsThatRetentionDeleted(t *testing.T) {
	e := newEnv(t)
	e.events(20)
	c := e.deployment.Config
	e.row(0, bad, valid)
	e.row(2, valid)
	e.check(e.run())
	e.check(topics.DeleteRecords(t.Context(), e.client, c.Verdicts, 0, 2))
	e.check(e.run())
	e.row(3, bad)
	e.check(e.run())
	e.wantWritten("0 json_syntax 0, 3 json_syntax 3")
	e.row(4, bad)
	e.row(5, bad)
	e.check(topics.DeleteRecords(t.Context(), e.client, c.Verdicts, 0, 4))
	e.check(e.run())
	e.wantWritten("0 json_syntax 0, 3 json_syntax 3, 4..5 lost verdicts_deleted , 5 json_syntax 5")
}

// TestFirstRowMayStartLater checks a first row that starts after the incarnation, so that rows are missing.
func TestFirstRowMayStartLater(t *testing.T) {
	t.Run("topic made again", func(t *testing.T) {
		e := newEnv(t)
		e.events(20)
		e.row(5, bad)
		e.check(e.run())
		e.wantWritten("0..5 lost verdict_topic_made_again , 5 json_syntax 5")
		e.deployment.Config.Group = "d.letters2" // a new group finds its place by the dead letters
		e.check(e.run())
		e.wantWritten("0..5 lost verdict_topic_made_again , 5 json_syntax 5")
	})
	t.Run("topic made again, then the group is forgotten", func(t *testing.T) {
		e := newEnv(t)
		e.events(20)
		e.row(5, valid)
		e.check(e.run())
		e.deployment.Config.Group = "d.letters2" // a new group finds only the dead letter of the gap
		e.check(e.run())
		e.wantWritten("0..5 lost verdict_topic_made_again ")
	})
	t.Run("rows deleted", func(t *testing.T) {
		e := newEnv(t)
		e.events(20)
		e.row(0, bad)
		e.row(1, bad)
		e.check(topics.DeleteRecords(t.Context(), e.client, e.deployment.Config.Verdicts, 0, 1))
		e.check(e.run())
		e.wantWritten("0..1 lost verdicts_deleted , 1 json_syntax 1")
	})
}
