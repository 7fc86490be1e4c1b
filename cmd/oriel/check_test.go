package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/replay"
	"oriel/state"
)

// delays is a CSV file and the events that the flags below make of it, by partition.
func delays(partitions int) (csv string, events [][]string) {
	events = make([][]string, partitions)
	csv = "hour,origin,carrier,arr_delay\n"
	origins := []string{"EWR", "JFK", "LGA", "SEA", "DEN"}
	for hour := range 12 { // the file has hours downwards; --sort turns them
		for i := range 12 {
			origin, delay := origins[(hour+i)%5], (7*hour+11*i)%40-10
			row, carrier := fmt.Sprintf("%d,%s,c%d,%d\n", 11-hour, origin, i%3, delay), fmt.Sprintf(`"carrier":"c%d",`, i%3)
			switch i {
			case 3:
				row = fmt.Sprintf("%d,%s,c0,NA\n", 11-hour, origin)
			case 5:
				row, carrier = fmt.Sprintf("%d,%s,NA,%d\n", 11-hour, origin, delay), ""
			}
			csv += row
			if i != 3 {
				p := kafka.PartitionOf([]byte(origin), partitions)
				events[p] = append(events[p], fmt.Sprintf(`{"features":{%s"hour":%d},"label":%t}`, carrier, 11-hour, delay > 15))
			}
		}
	}
	for p := range events {
		sorted := events[p][:0:0]
		for hour := range 12 {
			for _, e := range events[p] {
				if strings.Contains(e, fmt.Sprintf(`"hour":%d}`, hour)) {
					sorted = append(sorted, e)
				}
			}
		}
		events[p] = sorted
	}
	return csv, events
}

// TestProducedEventsAreTakenShownAndRecomputed is the way of a user: produce, run, tail, save, produce more, check.
func TestProducedEventsAreTakenShownAndRecomputed(t *testing.T) {
	t.Parallel()
	const partitions = 3
	f := newFixture(t, partitions, map[string]string{"ORIEL_FEATURES_RANGE": "hour:0:24:cyclic", "ORIEL_BATCH": "2"})
	csv, want := delays(partitions)
	total, counts := 0, make([]int64, partitions)
	for p, all := range want {
		total, counts[p] = total+len(all), int64(len(all))
		if len(all) < 6 {
			t.Fatalf("partition %d has %d events", p, len(all))
		}
	}
	said := f.must("produce", "--topic", f.env["ORIEL_INPUT_TOPIC"], "--csv", write(t, "flights.csv", []byte(csv)),
		"--where", "arr_delay!=NA", "--label", "arr_delay>15", "--feature", "carrier", "--feature", "hour:number",
		"--partition-by", "origin", "--sort", "hour")
	if !strings.Contains(said, fmt.Sprintf("%d records sent", total)) {
		t.Errorf("%d events, but it says %q", total, said)
	}
	for p := range int32(partitions) {
		var got []string
		for _, r := range f.read(f.env["ORIEL_INPUT_TOPIC"], p, false) {
			got = append(got, string(r.Value))
		}
		if strings.Join(got, "\n") != strings.Join(want[p], "\n") {
			t.Errorf("partition %d has other events than the table:\n%s", p, strings.Join(got, "\n"))
		}
	}
	f.must("topics")
	service := f.start(nil, "run")
	f.awaitTaken(time.Minute, counts...)
	for p := range int32(partitions) {
		f.checkTail(p, int(counts[p]/2))
	}

	const p, more = 1, 41
	file := filepath.Join(t.TempDir(), "checkpoint")
	f.must("replay", "--save", file, "--partition", "1")
	var lines []byte
	for i := range more {
		lines = append(append(lines, event(i).Value...), '\n')
	}
	lines = append(lines, "\nnot an event"...) // two null events
	f.must("produce", "--topic", f.env["ORIEL_INPUT_TOPIC"], "--ndjson", write(t, "more.ndjson", lines),
		"--partition", "1")
	counts[p] += more + 2
	f.awaitTaken(time.Minute, counts...)
	service.terminate()

	compared := counts[p]/2 - (counts[p]-more-2)/2
	said = f.must("replay", "--check", "--from", file, "--partition", "1")
	if !strings.Contains(said, fmt.Sprintf("partition 1: %d decisions compared, all equal", compared)) {
		t.Errorf("%d decisions behind the checkpoint, but it says %q", compared, said)
	}
	f.fails("partition 2", "replay", "--check", "--from", file, "--partition", "2")
	f.must("replay", "--save", file+"2", "--partition", "1")
	f.fails("nothing is shown", "replay", "--check", "--from", file+"2", "--partition", "1")
	wrong := filepath.Join(t.TempDir(), "wrong.key")
	writeKey(t, wrong, 9)
	other := map[string]string{"ORIEL_MASTER_KEY_FILE": wrong}
	if c := f.start(other, "replay", "--check", "--from", file, "--partition", "1"); c.finish(time.Minute) {
		t.Errorf("a checkpoint was opened with another master key: %s", c.output())
	}
	f.checkRefusesTampering(p, file)
	f.checkFindsForgery(p, file, int(compared))
}

// checkTail compares what `oriel tail` shows of a partition with its committed decisions.
func (f *fixture) checkTail(p int32, steps int) {
	f.t.Helper()
	raw := ""
	for _, r := range f.read(f.topic("decisions"), p, false) {
		raw += string(r.Value) + "\n"
	}
	if strings.Count(raw, "\n") != steps {
		f.t.Errorf("partition %d: %d decisions, want %d", p, strings.Count(raw, "\n"), steps)
	}
	args := []string{"tail", "--topic", f.topic("decisions"), "--partition", fmt.Sprint(p)}
	if shown := f.must(append(args, "--raw", "--follow=false")...); shown != raw {
		f.t.Errorf("partition %d: tail shows other bytes than were committed", p)
	}
	first := strings.Join(strings.SplitAfter(raw, "\n")[:3], "")
	if shown := f.must(append(args, "--raw", "--from-beginning", "-n", "3")...); shown != first {
		f.t.Errorf("partition %d: the first three decisions are not %q", p, shown)
	}
	if lines := strings.Count(f.must(append(args, "--follow=false")...), "\n"); lines != steps+1 {
		f.t.Errorf("partition %d: a table of %d lines for %d decisions and a head", p, lines, steps)
	}
}

// deployment opens the fixture's deployment in this process.
func (f *fixture) deployment() changelog.Deployment {
	f.t.Helper()
	var environ []string
	for k, v := range f.env {
		environ = append(environ, k+"="+v)
	}
	s, err := settings.Load(environ, settings.Kafka, settings.Deployment, settings.Events, settings.Operator)
	if err != nil {
		f.t.Fatal(err)
	}
	topics, err := deployment.CheckTopics(f.ctx(), f.client, s.Deployment(), deployment.ByService)
	if err != nil {
		f.t.Fatal(err)
	}
	master, err := state.LoadMasterKey(s.MasterKeyFile)
	if err != nil {
		f.t.Fatal(err)
	}
	return changelog.Deployment{
		Client: f.client, Config: s.Deployment(), Topics: topics, Model: model(f.t, s), Master: master,
	}
}

// checkRefusesTampering: a checkpoint with one byte changed, or with its end cut off, is refused before a decision is
// compared. Every third byte is tried, and so some byte of every field.
func (f *fixture) checkRefusesTampering(p int32, file string) {
	f.t.Helper()
	good, err := os.ReadFile(file)
	if err != nil {
		f.t.Fatal(err)
	}
	d := f.deployment()
	check := func(b []byte) (int, error) { return replay.Check(f.ctx(), d, p, b, func(int) {}) }
	if compared, err := check(good); err != nil || compared == 0 {
		f.t.Fatalf("the untouched checkpoint: %d decisions, %v", compared, err)
	}
	for i := 0; i < len(good); i += 3 {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if compared, err := check(bad); err == nil || compared > 0 {
			f.t.Errorf("byte %d of %d changed: %d decisions compared, %v", i, len(good), compared, err)
		}
		if i%16 == 0 {
			if compared, err := check(good[:i]); err == nil || compared > 0 {
				f.t.Errorf("cut to %d bytes: %d decisions compared, %v", i, compared, err)
			}
		}
	}
}

// checkFindsForgery: decisions that are not the recomputed ones, or not the next ones, are found, behind all the equal
// ones.
func (f *fixture) checkFindsForgery(p int32, file string, compared int) {
	f.t.Helper()
	f.send(p, events(0, 4)...)
	published := f.read(f.topic("decisions"), p, false)
	last := string(published[len(published)-1].Value)
	step := len(published)
	if !strings.Contains(last, fmt.Sprintf(`"index":%d,"step":%d,`, step, step)) {
		f.t.Fatalf("the last of %d decisions is %s", step, last)
	}
	forge := func(index int) []byte {
		return []byte(strings.Replace(last, fmt.Sprintf(`"index":%d,"step":%d,`, step, step), fmt.Sprintf(`"index":%d,"step":%d,`, index, index), 1))
	}
	good, err := os.ReadFile(file)
	if err != nil {
		f.t.Fatal(err)
	}
	for i, c := range []struct {
		name  string
		value []byte
		want  string
	}{
		{"a decision of other bytes", forge(step + 1), "differs"},
		{"a decision twice", forge(step), "was due"},
		{"a gap", forge(step + 2), "was due"},
		{"a decision without its events", forge(step + 100), "was due"},
	} {
		d := f.deployment()
		d.Topics.Decisions = kafka.Topic{Name: fmt.Sprintf("%s.forged%d", f.name, i)}
		f.createTopic(d.Topics.Decisions.Name, f.partitions, nil)
		producer, err := f.client.NewProducer(f.ctx(), "", time.Minute)
		if err != nil {
			f.t.Fatal(err)
		}
		var b kafka.Builder
		for _, r := range published {
			b.Append(r.Key, r.Value, nil, time.Now().UnixMilli())
		}
		b.Append(published[0].Key, c.value, nil, time.Now().UnixMilli())
		if _, err := producer.Produce(f.ctx(), d.Topics.Decisions.Name, p, &b); err != nil {
			f.t.Fatal(err)
		}
		n, err := replay.Check(f.ctx(), d, p, good, func(int) {})
		if n != compared || err == nil || !strings.Contains(err.Error(), c.want) {
			f.t.Errorf("%s: %d decisions equal, %v; want %d and %q", c.name, n, err, compared, c.want)
		}
	}
}
