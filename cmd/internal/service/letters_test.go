package service_test

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// take runs the service until it has consumed this many offsets of partition 0.
func (f *fixture) take(offsets int64) {
	f.T.Helper()
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, offsets)
	p.Terminate()
}

// TestLettersOfEveryKind checks that every kind of bad record has a dead letter, with every compression codec, and that
// records of aborted transactions have none.
func TestLettersOfEveryKind(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_MAX_RECORD_BYTES": "900000"})
	f.Must("topics")
	bad := badRecords()
	f.Send(0, servicetest.Events(0, 10)...)
	f.Send(0, bad...)
	want, next := atOffsets(10, bad), int64(10+len(bad))
	producer, err := produce.New(f.Ctx(), f.Client, f.Name+"-input", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	input := kafka.TopicPartition{Topic: f.Env["ORIEL_INPUT_TOPIC"]}
	for i, codec := range []records.Codec{records.Gzip, records.Snappy, records.LZ4, records.Zstd, records.NoCompression} {
		for _, commit := range []bool{false, true} {
			list := []records.Record{{Key: []byte("k"), Value: fmt.Appendf(nil, "bad %d %t", i, commit)}, servicetest.Event(i)}
			var b records.Builder
			b.Compress(codec)
			for _, r := range list {
				b.Append(r.Key, r.Value, r.Headers.List(), time.Now().UnixMilli())
			}
			if err := producer.Begin(f.Ctx(), []kafka.TopicPartition{input}); err != nil {
				t.Fatal(err)
			}
			if _, err := producer.Produce(f.Ctx(), input.Topic, 0, &b); err != nil {
				t.Fatal(err)
			}
			if err := producer.End(f.Ctx(), commit); err != nil {
				t.Fatal(err)
			}
			if commit {
				want[next] = list[0]
			}
			next += 3 // two records and their marker, which the broker may write after it has acknowledged the commit
			if _, err := topics.StableEnd(f.Ctx(), f.Client, input.Topic, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	garbage := records.Record{Value: bytes.Repeat([]byte{0xff}, 60_000)}
	many := records.Record{Value: []byte("x"), Headers: records.HeadersOf(make([]records.Header, 1500)...)}
	f.Send(0, garbage, many)
	want[next], want[next+1] = garbage, many
	f.take(next + 2)
	letters := f.Letters(0)
	for i := range letters {
		// this record has more headers than pipeline/kafka reads
		if h := servicetest.LetterHeaders(letters[i]); h["oriel-offset"] == fmt.Sprint(next+1) {
			many.Value, many.Headers = letters[i].Value, records.Headers{}
			want[next+1] = many
		}
	}
	f.checkLetters(0, letters, want, 900_000)
	if again := f.Letters(0); len(again) != len(letters) {
		t.Errorf("%d letters after another run, %d before", len(again), len(letters))
	}
}

// TestLettersOfAWholeTopic checks that the dead letters of a stream of a whole topic are in one partition, each with
// the contents of the record that its headers name.
func TestLettersOfAWholeTopic(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3, map[string]string{"ORIEL_STREAM": "topic", "ORIEL_MAX_RECORD_BYTES": "900000"})
	f.Must("topics")
	bad := badRecords()
	want := map[int32]map[int64]records.Record{}
	var ends []int64
	for p := range int32(3) {
		f.Send(p, servicetest.Events(0, int(p))...)
		f.Send(p, bad[p:]...)
		want[p] = atOffsets(int64(p), bad[p:])
		ends = append(ends, int64(len(bad)))
	}
	service := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, ends...)
	service.Terminate()
	letters := f.Letters(0)
	for p, bad := range want {
		of := slices.DeleteFunc(slices.Clone(letters), func(l records.Record) bool {
			return servicetest.LetterHeaders(l)["oriel-partition"] != fmt.Sprint(p)
		})
		f.checkLetters(p, of, bad, 900_000)
	}
	if again := f.Letters(0); len(again) != len(letters) || len(letters) != len(want[0])+len(want[1])+len(want[2]) {
		t.Errorf("%d letters, %d after another run", len(letters), len(again))
	}
}

// TestServiceDoesNotKnowTheDeadLetterTopic checks that the service works without a dead-letter topic, and that `oriel
// letters` says what to do if the topic is missing.
func TestServiceDoesNotKnowTheDeadLetterTopic(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	f.deleteTopic(f.Topic("dead-letter"))
	f.Send(0, append(servicetest.Events(0, 5), records.Record{Value: []byte("bad")})...)
	f.take(6)
	f.CheckHistory(0, 6)
	f.Fails("does not exist", "letters", "--once")
	f.Must("topics")
	f.checkLetters(0, f.Letters(0), map[int64]records.Record{5: {Value: []byte("bad")}}, 1<<20)
}

// TestLettersFitTheirTopic checks that dead letters are cut to the size that their topic accepts at any time, and that
// none is missing. When the service itself wrote dead letters, one event whose dead letter did not fit could stop the
// service for good.
func TestLettersFitTheirTopic(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{262144, 1000} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			f := newFixture(t, 1, nil)
			f.CreateTopic(f.Topic("dead-letter"), 1, map[string]string{"max.message.bytes": strconv.Itoa(limit)})
			f.Must("topics")
			var bad []records.Record
			for i := range 12 {
				bad = append(bad, records.Record{Key: fmt.Appendf(nil, "key %d", i), Value: bytes.Repeat([]byte{'x'}, 90_000)})
			}
			f.Send(0, bad...)
			f.take(12)
			f.CheckHistory(0, 12)
			letters := f.Letters(0)
			if limit > 100_000 {
				f.checkLetters(0, letters, atOffsets(0, bad), 1<<20)
				return
			}
			for i, letter := range letters {
				h := servicetest.LetterHeaders(letter)
				if h["oriel-offset"] != strconv.Itoa(i) || h["oriel-truncated"] != "true" || h["oriel-length"] != "90000" ||
					!bytes.Equal(letter.Key, bad[i].Key) || len(letter.Value) < 300 || !bytes.HasPrefix(bad[i].Value, letter.Value) {
					t.Errorf("letter %d: %v, key %q, %d bytes", i, h, letter.Key, len(letter.Value))
				}
			}
			if len(letters) != len(bad) {
				t.Errorf("%d letters, want %d", len(letters), len(bad))
			}
		})
	}
}

// TestLettersFollowTheLimitOfTheirTopic lowers and raises the topic's size limit while dead letters are written.
func TestLettersFollowTheLimitOfTheirTopic(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	run := f.Start(nil, "run")
	writing := f.Start(nil, "letters")
	large := records.Record{Value: bytes.Repeat([]byte{'x'}, 200_000)}
	limits := []int{1 << 20, 150_000, 400_000, 1000}
	for i, limit := range limits {
		if err := topics.Alter(
			f.Ctx(), f.Client, f.Topic("dead-letter"), map[string]string{"max.message.bytes": strconv.Itoa(limit)},
		); err != nil {
			t.Fatal(err)
		}
		f.Send(0, large, large, large)
		f.Await(time.Minute, fmt.Sprintf("letters under a limit of %d", limit), func() bool {
			return len(f.Read(f.Topic("dead-letter"), 0, false)) == 3*(i+1)
		})
	}
	run.Terminate()
	writing.End()
	letters := f.Read(f.Topic("dead-letter"), 0, false)
	for i, letter := range letters {
		limit := limits[i/3]
		whole := limit > len(large.Value)
		h := servicetest.LetterHeaders(letter)
		if h["oriel-offset"] != strconv.Itoa(i) || (h["oriel-truncated"] == "true") == whole ||
			(len(letter.Value) == len(large.Value)) != whole {
			t.Errorf("limit %d: %v, %d bytes", limit, h, len(letter.Value))
		}
	}
	if err := topics.Alter(
		f.Ctx(), f.Client, f.Topic("dead-letter"), map[string]string{"max.message.bytes": "100"},
	); err != nil {
		t.Fatal(err)
	}
	f.Send(0, large)
	f.take(13)
	f.Fails("without content", "letters", "--once")
}

// TestLettersOfRecordsThatAreGone checks that the dead letter of a deleted record states the reason and the place,
// without content.
func TestLettersOfRecordsThatAreGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	bad := []records.Record{{Value: []byte("a")}, {Value: []byte("b")}, {Value: []byte("c")}}
	f.Send(0, bad...)
	f.take(3)
	if err := topics.DeleteRecords(f.Ctx(), f.Client, f.Env["ORIEL_INPUT_TOPIC"], 0, 2); err != nil {
		t.Fatal(err)
	}
	letters := f.Letters(0)
	if len(letters) != 3 {
		t.Fatalf("%d letters", len(letters))
	}
	for i, letter := range letters {
		h := servicetest.LetterHeaders(letter)
		gone := i < 2
		if (h["oriel-lost"] == "true") != gone || (letter.Value == nil) != gone || h["oriel-offset"] != strconv.Itoa(i) ||
			h["oriel-reason"] != "json_syntax" {
			t.Errorf("letter %d: %v, value %q", i, h, letter.Value)
		}
	}
}

// TestRecordStatusesThatWereDeleted deletes the topic of record statuses. `oriel run` once did not mention the lost
// dead letters, and `oriel letters` advised a new deployment.
func TestRecordStatusesThatWereDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	bad := records.Record{Value: []byte("bad")}
	f.Send(0, append(servicetest.Events(0, 5), bad)...)
	f.take(6)
	if got := f.Letters(0); len(got) != 1 {
		t.Fatalf("letters %v", servicetest.Reasons(got))
	}
	f.Send(0, bad)
	f.take(7) // the dead letters of these records are not written yet
	run, writing := f.Start(nil, "run"), f.Start(nil, "letters", "--once")
	if !writing.Finish(time.Minute) || !strings.Contains(writing.Output(), "up_to=7") {
		t.Fatalf("letters: %s", writing.Output())
	}
	f.Send(0, bad)
	f.AwaitTaken(time.Minute, 8)
	f.deleteTopic(f.Topic("verdicts"))
	says := func(p *servicetest.Process) {
		t.Helper()
		if p.Finish(time.Minute) {
			t.Errorf("it goes on without verdicts")
		}
		p.Says("verdict topic", "Run `oriel topics`", "letters that were not written are lost")
		if strings.Contains(p.Output(), "ORIEL_NAME") {
			t.Errorf("it advises a new deployment: %s", p.Output())
		}
	}
	says(run)
	says(f.Start(nil, "letters"))
	f.Must("topics")
	f.Send(0, servicetest.Event(8), bad)
	f.take(10)
	want := []string{"5 json_syntax", "6 json_syntax", "7 verdict_topic_made_again", "9 json_syntax"}
	if got := servicetest.Reasons(f.Letters(0)); !slices.Equal(got, want) {
		t.Errorf("letters %q, want %q", got, want)
	}
	f.CheckHistory(0, 10)
}

// TestLettersSayWhatIsWrong checks that a dead letter names the wrong member in words, with the operator's settings in
// the process and without them.
func TestLettersSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	bad := []records.Record{
		{Value: []byte(`{"features":{"a":1},"label":1,"event_id":"canary"}`)},
		{Value: []byte(`{"features":{"device":{"os":"canary"}},"label":1}`)},
		{Value: []byte(`{"features":{"a":1},"label":7}`)},
	}
	f.Send(0, bad...)
	f.take(3)
	for _, name := range []string{"OPERATOR", "LOSS", "DIMENSION", "SET", "UPDATE", "WINDOW"} {
		delete(f.Env, "ORIEL_"+name)
	}
	letters := f.Letters(0)
	f.checkLetters(0, letters, atOffsets(0, bad), 1<<20)
	for i, want := range []string{
		`unknown_name: unknown member "event_id": events of coco have features, label, weight`,
		"features: wrong_type: features.device is an object; a feature is a number, text or boolean",
		"label: label_range: a label of two classes is -1, 0, 1, false or true",
	} {
		if got := servicetest.LetterHeaders(letters[i])["oriel-detail"]; got != want {
			t.Errorf("letter %d says %q, want %q", i, got, want)
		}
	}
}

// TestLettersOfAMapping checks that a dead letter names the path at which a mapped record is wrong. A record that the
// mapping filters out must have no dead letter, because it is not wrong.
func TestLettersOfAMapping(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{
		"ORIEL_MAP": `{"where":"/s=paid","label":"/o/late>15","features":["/o/n:number"]}`,
	})
	f.Must("topics")
	bad := []records.Record{
		{Value: []byte(`{"s":"paid","o":{"n":"canary","late":1}}`)},
		{Value: []byte(`{"s":"paid","o":{"n":1}}`)},
		{Value: []byte(`{"s":"paid","o":{"n":1,"late":1},"o":"canary"}`)},
	}
	f.Send(0, records.Record{Value: []byte(`{"s":"open","o":{}}`)})
	f.Send(0, bad...)
	f.Send(0, records.Record{Value: []byte(`{"id":7,"s":"paid","o":{"n":1,"late":16}}`)})
	f.take(5)
	letters := f.Letters(0)
	f.checkLetters(0, letters, atOffsets(1, bad), 1<<20)
	for i, want := range []string{
		"features.n: unreadable_value: /o/n is a text that does not say a number", "label: missing_member: /o/late is absent",
		"duplicate_name: /o: an object has no name twice",
	} {
		if got := servicetest.LetterHeaders(letters[i])["oriel-detail"]; got != want {
			t.Errorf("letter %d says %q, want %q", i, got, want)
		}
	}
	f.CheckHistory(0, 5)
}
