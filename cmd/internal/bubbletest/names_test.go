package bubbletest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/cmd/internal/service"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/simtest"
)

// words has the settings of names of persons, of whom one has up to two in a second. Two persons make a name appear.
var words = map[string]string{
	"ORIEL_OPERATOR": "names", "ORIEL_USER_ID": "key", "ORIEL_USER_PERIOD": "1s", "ORIEL_PERSON_NAMES": "2",
	"ORIEL_MECHANISM": "once-laplace", "ORIEL_EPSILON": "28", "ORIEL_CELLS": "", "ORIEL_STATISTICS": "",
	"ORIEL_DECISION_GAUGES": "",
}

// said are the names of persons that come at each half second.
type said map[int][]string

// ofNames matches what may depend on published names: the list with its length, and the numbers of the page.
var ofNames = regexp.MustCompile(`"(decision|names|at|values|low|high)":(null|\[.*?\])|"dimension":[0-9]+|value of [0-9]+|"(more|cut)",?(:|"value":)[0-9]+`)

// readersSeeNames is readersSee for names, with the real noise, and with a process that may be killed.
func readersSeeNames(t *testing.T, in said, kill notice.Point, nth int) (seen sight, lists string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set := maps.Clone(seconds)
		maps.Copy(set, words)
		maps.DeleteFunc(set, func(_, value string) bool { return value == "" })
		d := newBubbleOf(t, 2, nil, set, nil)
		a := d.Start("a", simtest.NewDisk(), service.Run)
		if kill != "" {
			a.KillAt(kill, nth)
		}
		began := time.Now()
		for tick := range 20 {
			time.Sleep(500 * time.Millisecond)
			for i, line := range in[tick] {
				person, name, _ := strings.Cut(line, "|")
				d.Send(int32(i%2), records.Record{Key: []byte(person), Value: []byte(`{"name":"` + name + `"}`)})
			}
			if !a.Alive() && a.Ended() {
				seen.seeEnd(a)
				a = d.Start("a", a.Disk(), service.Run)
			}
			at := time.Since(began).Truncate(500 * time.Millisecond).String()
			for _, page := range []string{"/healthz", "/readyz", "/metrics", "/"} {
				seen.see(at+" "+page, d.get(a, page))
			}
			seen.see(at+" frame", d.events(a, 1))
		}
		_ = a.Stop()
		seen.seeEnd(a)
		d.seeTopic(&seen, d.Topic("decisions"), 0)
		d.seeTopic(&seen, d.Topic("descriptor"), 0)
	})
	for i := range seen {
		if strings.Contains(seen[i], `"mechanism":`) {
			lists += seen[i]
		}
		seen[i] = ofNames.ReplaceAllString(seen[i], "")
	}
	return seen, lists
}

// TestReadersDoNotSeeWhoSaidAName runs services over inputs that differ in a person: one with a name that nobody else
// has, with a shared one, with a name of 256 bytes, with one that is no name, or with many of them. But for the lists,
// readers of decisions must see the same bytes, also if the process dies. No name may appear outside the lists, and no
// name of a single person in them.
func TestReadersDoNotSeeWhoSaidAName(t *testing.T) {
	t.Parallel()
	some := said{4: {"ada|shared", "bob|shared", "cy|shared"}, 9: {"ada|shared", "bob|shared", "cy|shared", "di|shared"}}
	kills := []notice.Point{"", notice.PointProduced, notice.PointEnded, notice.PointRestored}
	for _, kill := range tiertest.Runs(kills[:2], kills) {
		want, lists := readersSeeNames(t, some, kill, 4)
		if !strings.Contains(lists, "shared") {
			t.Error("no decision has a shared name")
		}
		many := make([]string, 50)
		for i := range many {
			many[i] = "eve|lonely " + strings.Repeat("x", i)
		}
		for what, more := range map[string]said{
			"a lonely name":  {4: {"ada|shared", "bob|shared", "cy|shared", "eve|lonely"}},
			"a shared name":  {9: {"ada|shared", "bob|shared", "cy|shared", "di|shared", "eve|shared"}},
			"a long name":    {6: {"eve|lonely" + strings.Repeat("x", 250)}},
			"no clean name":  {6: {`eve|lonely\u0007`}},
			"many names":     {6: many},
			"nobody at all":  {4: nil, 9: nil},
			"the very first": {1: {"eve|lonely"}},
		} {
			in := maps.Clone(some)
			maps.Copy(in, more)
			got, lists := readersSeeNames(t, in, kill, 4)
			if text := simtest.Difference(want, got); text != "" {
				t.Errorf("%q, %s: %s", kill, what, text)
			}
			has := func(line string) bool { return strings.Contains(line, "lonely") || strings.Contains(line, "shared") }
			if strings.Contains(lists, "lonely") || slices.ContainsFunc(got, has) {
				t.Errorf("%q, %s: a name appears", kill, what)
			}
		}
	}
}
