package main

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

	"oriel/cmd/internal/settings"
	"oriel/pipeline"
	"oriel/pipeline/kafka"
	"oriel/pipeline/pipetest"
)

// subject is a deployment and its input.
type subject struct {
	env       map[string]string // beside that of coco; empty: not set
	events    func(from, n int) []kafka.Record
	decisions int // of each partition
}

// answersOf are records that answer plays, or do not: the first of testdata/golden/plays.ndjson.
func answersOf(t *testing.T) func(from, n int) []kafka.Record {
	t.Helper()
	text, err := os.ReadFile("testdata/golden/plays.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	return func(from, n int) (records []kafka.Record) {
		for _, line := range lines[from : from+n] {
			key, value, _ := strings.Cut(line, "|")
			records = append(records, kafka.Record{Key: []byte(key), Value: []byte(value)})
		}
		return records
	}
}

// TestDecisionsDependOnTheInputAlone continues one deployment many times over one input: in other transactions and
// fetches, with crashes at each point and lost disks, moved between processes. What is committed is the same bytes each
// time, and so is whatever was readable before it was aborted. Bandits owe decisions before the first record, and many
// after a step.
func TestDecisionsDependOnTheInputAlone(t *testing.T) {
	notCoco := map[string]string{"ORIEL_BATCH": "4", "ORIEL_PLAYS": "6", "ORIEL_DELAY": "1"}
	for _, name := range []string{
		"UPDATE", "LOSS", "SET", "RADIUS", "DIMENSION", "STRONG_CONVEXITY", "CLIP", "DELTA", "WINDOW",
	} {
		notCoco["ORIEL_"+name] = ""
	}
	with := func(more map[string]string) map[string]string {
		all := maps.Clone(notCoco)
		maps.Copy(all, more)
		return all
	}
	for name, s := range map[string]subject{
		"coco": {events: events, decisions: courseEvents},
		"arms": {
			env:    with(armsEnv("a,b,c", "4")),
			events: answersOf(t), decisions: (courseEvents/4 + 1) * 6,
		},
		"bandit": {
			env: with(map[string]string{
				"ORIEL_OPERATOR": "bandit", "ORIEL_SET": "box", "ORIEL_RADIUS": "1", "ORIEL_DIMENSION": "2",
				"ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "horizon", "ORIEL_HORIZON": "64", "ORIEL_DOUBLING": "true",
				"ORIEL_EPSILON": "40", "ORIEL_DELTA": "1e-6", "ORIEL_PRECISION": "0.01",
			}),
			events: answersOf(t), decisions: (courseEvents/4 + 1) * 6,
		},
	} {
		t.Run(name, s.goesEachWay)
	}
}

// goesEachWay compares all courses with one.
func (s subject) goesEachWay(t *testing.T) {
	opened := filepath.Join(t.TempDir(), "opened")
	synctest.Test(t, func(t *testing.T) {
		d := onDeployment(t, pipetest.NewIn(t, opened), s.env, settings.Settings.Model)
		d.create(courseParts)
		a := d.start("a", pipetest.NewDisk(), run)
		time.Sleep(2 * time.Second)
		if err := a.Stop(); err != nil {
			t.Fatal(err)
		}
	})
	want := course{batch: courseEvents}.run(t, s, opened)
	if len(want) != courseParts*s.decisions {
		t.Fatalf("%d decisions, want %d", len(want), courseParts*s.decisions)
	}
	for name, c := range map[string]course{
		"one at a time":    {batch: 1},
		"frequent commits": {batch: 7, interval: "1ms"},
		"rare commits":     {batch: 7, interval: "3s"},
		"killed fenced":    {batch: 7, kill: pipeline.PointFenced, at: 2},
		"killed restored":  {batch: 7, kill: pipeline.PointRestored, at: 2},
		"killed produced":  {batch: 7, kill: pipeline.PointProduced, at: 5},
		"killed committed": {batch: 7, kill: pipeline.PointEnded, at: 5},
		"disk lost": {batch: 7, kill: pipeline.PointProduced, at: 5, disk: func(*vfs.MemFS) *vfs.MemFS {
			return pipetest.NewDisk()
		}},
		"power lost":          {batch: 7, kill: pipeline.PointEnded, at: 5, disk: pipetest.AfterPowerLoss},
		"moved":               {batch: 7, second: true},
		"moved, first killed": {batch: 7, second: true, kill: pipeline.PointProduced, at: 7},
	} {
		t.Run(name, func(t *testing.T) {
			if text := pipetest.Difference(want, c.run(t, s, opened)); text != "" {
				t.Error(text)
			}
		})
	}
}

const (
	courseParts  = 2
	courseEvents = 60 // in each partition
)

// course is one way through an input.
type course struct {
	batch    int            // events that are sent at once
	interval string         // ORIEL_COMMIT_INTERVAL
	kill     pipeline.Point // where the first process dies
	at       int            // the how manyth time
	disk     func(*vfs.MemFS) *vfs.MemFS
	second   bool // another process joins, and the first one leaves
}

// run goes it on a copy of a deployment, and gives the committed decisions.
func (c course) run(t *testing.T, s subject, opened string) (decisions []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "broker")
	if err := os.CopyFS(dir, os.DirFS(opened)); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	maps.Copy(env, s.env)
	if c.interval != "" {
		env["ORIEL_COMMIT_INTERVAL"] = c.interval
	}
	synctest.Test(t, func(t *testing.T) {
		d := onDeployment(t, pipetest.NewIn(t, dir), env, settings.Settings.Model)
		first := d.start("a", pipetest.NewDisk(), run)
		if c.kill != "" {
			first.KillAt(c.kill, c.at)
		}
		var others []*child
		for sent := 0; sent < courseEvents; sent += c.batch {
			for p := range int32(courseParts) {
				d.send(p, s.events(sent, min(c.batch, courseEvents-sent))...)
			}
			time.Sleep(300 * time.Millisecond)
			if c.second && len(others) == 0 && sent > courseEvents/4 {
				others = append(others, d.start("b", pipetest.NewDisk(), run))
			}
		}
		time.Sleep(15 * time.Second)
		if c.second && c.kill == "" {
			if err := first.Stop(); err != nil {
				t.Error(err)
			}
		}
		if first.ended() {
			disk := first.Disk()
			if c.disk != nil {
				disk = c.disk(disk)
			}
			others = append(others, d.start("a", disk, run))
		} else if c.kill != "" {
			t.Errorf("the process did not come to %q", c.kill)
		}
		time.Sleep(30 * time.Second)
		decisions = d.decisions()
		for _, process := range others {
			if err := process.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
	return decisions
}

// decisions are those that are committed. What else was ever readable must be equal to one of them.
func (d *inprocess) decisions() (all []string) {
	d.t.Helper()
	read := func(p int32, uncommitted bool) (values []string) {
		records, err := pipetest.Read(d.t.Context(), d.client, "late.decisions", p, -1,
			kafka.ReaderOptions{Uncommitted: uncommitted})
		if err != nil {
			d.t.Fatal(err)
		}
		for _, r := range records {
			values = append(values, fmt.Sprintf("%d: %s", p, r.Value))
		}
		return values
	}
	for p := range int32(courseParts) {
		all = append(all, read(p, false)...)
		for _, value := range read(p, true) {
			if !slices.Contains(all, value) {
				d.t.Errorf("a second value was readable: %s", value)
			}
		}
	}
	return all
}
