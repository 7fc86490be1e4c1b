package bubbletest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/streams"
	"oriel/schemas/text"
)

// TestDecisionsDependOnlyOnTheInput continues one deployment of each operator many times over one input. Transactions
// and fetches differ, the service crashes at each point and loses disks, and partitions move between processes. The
// committed bytes must be the same each time, and so must the bytes of decisions that were readable before their
// transaction was aborted. Bandits must publish decisions before the first record, and many after a step.
func TestDecisionsDependOnlyOnTheInput(t *testing.T) {
	all := subjects(t)
	for _, e := range encodings(t) {
		all = append(all, e.subject)
	}
	for row, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.goesEachWay(t, row)
		})
	}
}

// goesEachWay compares all courses with an undisturbed one. In the short form each subject runs one of the courses, and
// the next subject another one.
func (s subject) goesEachWay(t *testing.T, row int) {
	opened := filepath.Join(t.TempDir(), "opened")
	model := seated(func(*streams.Model, protection.Guarantee) {})
	synctest.Test(t, func(t *testing.T) {
		d := bubble{servicetest.NewBubble(t, simtest.NewIn(t, opened), s.env, model)}
		d.Create(courseParts, nil)
		a := d.Start("a", simtest.NewDisk(), service.Run)
		time.Sleep(2 * time.Second)
		if err := a.Stop(); err != nil {
			t.Fatal(err)
		}
	})
	want := course{batch: courseEvents}.run(t, s, opened, model)
	if decided := courseParts * s.decisions(t, courseEvents); len(want) != decided {
		t.Fatalf("%d decisions, want %d", len(want), decided)
	}
	courses := map[string]course{
		"one at a time":    {batch: 1},
		"frequent commits": {batch: 7, interval: "1ms"},
		"rare commits":     {batch: 7, interval: "3s"},
		"killed fenced":    {batch: 7, kill: notice.PointFenced, at: 2},
		"killed restored":  {batch: 7, kill: notice.PointRestored, at: 2},
		"killed produced":  {batch: 7, kill: notice.PointProduced, at: 5},
		"killed committed": {batch: 7, kill: notice.PointEnded, at: 5},
		"disk lost": {batch: 7, kill: notice.PointProduced, at: 5, disk: func(*vfs.MemFS) *vfs.MemFS {
			return simtest.NewDisk()
		}},
		"power lost":          {batch: 7, kill: notice.PointEnded, at: 5, disk: simtest.AfterPowerLoss},
		"moved":               {batch: 7, second: true},
		"moved, first killed": {batch: 7, second: true, kill: notice.PointProduced, at: 7},
	}
	for i, name := range slices.Sorted(maps.Keys(courses)) {
		if tiertest.Runs((i+row+len(courses)-1)%len(courses) > 0, false) {
			continue
		}
		c := courses[name]
		t.Run(name, func(t *testing.T) {
			if text := simtest.Difference(want, c.run(t, s, opened, model)); text != "" {
				t.Error(text)
			}
		})
	}
}

const (
	courseParts  = 2
	courseEvents = 60 // number of events in each partition
)

// course is one way to consume an input.
type course struct {
	batch    int          // number of events that are sent at once
	interval string       // value of ORIEL_COMMIT_INTERVAL
	kill     notice.Point // point at which the first process dies
	at       int          // how many times the process passes the point before it dies there, plus one
	disk     func(*vfs.MemFS) *vfs.MemFS
	second   bool // a second process joins, and the first one leaves
}

// handover is longer than the time in which a group removes a dead member, 6 s, plus the time of a take-over and a
// commit interval.
const handover = 10 * time.Second

// stamped returns the events with timestamps that are not in order, because decisions must not depend on the time at
// which an event is sent.
func stamped(events []records.Record) []records.Record {
	events = slices.Clone(events)
	for i := range events {
		events[i].Timestamp = 1_700_000_000_000 + 1000*int64(i^3) // of every four events the first has the latest timestamp
	}
	return events
}

// run follows the course on a copy of a deployment, and returns the committed decisions.
func (c course) run(
	t *testing.T, s subject, opened string, model func(settings.Settings) (streams.Model, error),
) (decisions []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "broker")
	if err := os.CopyFS(dir, os.DirFS(opened)); err != nil {
		t.Fatal(err)
	}
	topics := append([]string{"decisions"}, s.further(t)...)
	env := maps.Clone(s.env)
	if c.interval != "" {
		env["ORIEL_COMMIT_INTERVAL"] = c.interval
	}
	synctest.Test(t, func(t *testing.T) {
		d := bubble{servicetest.NewBubble(t, simtest.NewIn(t, dir), env, model)}
		first := d.Start("a", simtest.NewDisk(), service.Run)
		if c.kill != "" {
			first.KillAt(c.kill, c.at)
		}
		var others []*servicetest.Command
		for sent := 0; sent < courseEvents; sent += c.batch {
			for p := range int32(courseParts) {
				d.Send(p, stamped(s.records[:min(sent+c.batch, courseEvents)])[sent:]...)
			}
			time.Sleep(300 * time.Millisecond)
			if c.second && len(others) == 0 && sent > courseEvents/4 {
				others = append(others, d.Start("b", simtest.NewDisk(), service.Run))
			}
		}
		time.Sleep(handover)
		if c.second && c.kill == "" {
			if err := first.Stop(); err != nil {
				t.Error(err)
			}
		}
		if first.Ended() {
			disk := first.Disk()
			if c.disk != nil {
				disk = c.disk(disk)
			}
			others = append(others, d.Start("a", disk, service.Run))
		} else if c.kill != "" {
			t.Errorf("the process did not come to %q", c.kill)
		}
		if len(others) > 0 {
			time.Sleep(handover)
		}
		decisions = d.decisions(topics)
		for _, process := range others {
			if err := process.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
	return decisions
}

// decisions returns the committed decisions. It checks that every aborted decision that was ever readable equals a
// committed one.
func (d bubble) decisions(topics []string) (all []string) {
	d.T.Helper()
	read := func(topic string, p int32, uncommitted bool) (values []string) {
		for _, r := range d.Read(d.Topic(topic), p, uncommitted) {
			values = append(values, fmt.Sprintf("%s/%d: %s: %s", topic, p, r.Key, r.Value))
		}
		return values
	}
	for _, topic := range topics {
		for p := range int32(courseParts) {
			all = append(all, read(topic, p, false)...)
			for _, value := range read(topic, p, true) {
				if !slices.Contains(all, value) {
					d.T.Errorf("a second value was readable: %s", value)
				}
			}
		}
	}
	return all
}

// decisions returns the number of decisions, in all topics, that a replay computes from this many first records.
func (s subject) decisions(t *testing.T, first int) int {
	t.Helper()
	return len(s.replayed(t, s.records[:first]))
}

// replayed returns the decisions of a replay of the records. It always uses the same seed.
func (s subject) replayed(t *testing.T, list []records.Record) (decisions []string) {
	t.Helper()
	model := decisiontest.Model(t, s.settings)
	model.Frozen = s.frozen
	stream, err := replay.Open(model, replay.Options{Seed: strings.Repeat("5eed", 16)})
	if err != nil {
		t.Fatal(err)
	}
	walk := streams.Walk{
		Stream:  stream,
		Decided: func(_ uint8, _, line []byte) { decisions = append(decisions, string(line)) },
		Taken:   func(*records.Record, int64, text.Code) {},
	}
	walk.Start()
	all := fetch.Batch{Next: int64(len(list)), Records: slices.Clone(list)}
	for i := range all.Records {
		all.Records[i].Offset = int64(i)
	}
	if err := walk.Take(&all, func() int64 { return streams.Untaken }); err != nil {
		t.Fatal(err)
	}
	return decisions
}
