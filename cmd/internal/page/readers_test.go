package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/pipeline/console"
	"oriel/pipeline/notice"
)

// readersPage returns what the page of a short run sends to readers. The run has records more than another one, and all
// the facts that records may change.
func readersPage(t *testing.T, more int) (frames []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newModel()
		m.page.about.Audience = notice.Readers
		m.page.about.Reasons = console.New(notice.Readers).Reasons
		m.l = notice.Readers.Limit(m.page.Listen(notice.Listener{}))
		m.l.Proves(0, protection.Guarantee{
			Mechanism: "once-gaussian", Epsilon: 1, Batch: 1,
			Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{}},
		})
		m.l.State(0, notice.Running)
		for k := range uint64(3) {
			m.publish(0, k, []float64{1, 2})
			m.l.Committed(notice.Commit{
				Records: 4 + more, Steps: 1, Decisions: 1, Time: time.UnixMilli(int64(4000 + k)), Lag: int64(7 * more),
				Duration: time.Second,
			})
			for range more {
				m.l.Committed(notice.Commit{Records: 1, Lag: 3, Time: time.UnixMilli(99000), Duration: time.Second})
				m.l.Aborted(0)
				m.l.Behind(0, 11)
				m.l.Waits(0, 5, true)
				m.l.Void(0, time.Second)
				m.l.Restarted(0, errors.New("at offset 12"))
			}
			m.page.sample(m.at.Add(time.Duration(k) * time.Second))
		}
		for _, frame := range [][]byte{
			m.page.aboutFrame(), m.page.pastFrame(), m.page.nowFrame(), m.page.courseFrame(0, 1), m.page.effectsFrame(0, 1),
		} {
			frames = append(frames, string(frame))
		}
	})
	return frames
}

// TestReadersSeeTheseMembersAlone checks the exact members of the page for readers of decisions, and that no frame
// depends on records.
func TestReadersSeeTheseMembersAlone(t *testing.T) {
	frames := readersPage(t, 0)
	if other := readersPage(t, 1); !slices.Equal(frames, other) {
		t.Errorf("with a record more, readers see\n%s\nnot\n%s", strings.Join(other, "\n"), strings.Join(frames, "\n"))
	}
	for i, want := range []string{
		"aged deployment details operator promise readers version", "steps time",
		"ages decided decisions newest ready steps time", "high low steps time value", "events high low value",
	} {
		var members map[string]any
		if err := json.Unmarshal([]byte(frames[i]), &members); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(members)), " "); got != want {
			t.Errorf("frame %d has %s, want %s", i, got, want)
		}
	}
	if !strings.Contains(frames[2], fmt.Sprintf(`"steps":6,"decided":6,"newest":%d,`, 4002)) {
		t.Errorf("frame %s", frames[2])
	}
}

// TestThePageNamesTheChange checks the verb for what neighbouring streams differ in.
func TestThePageNamesTheChange(t *testing.T) {
	for exchange, want := range map[dp.Adjacency]string{
		dp.Replace: "Exchanging it", dp.AddRemove: "Adding or removing it",
	} {
		got := details(protection.Guarantee{Terms: protection.Terms{
			Scope: protection.PerStep{}, Unit: protection.Event{Exchange: exchange},
		}})
		if !strings.HasPrefix(got, want+" changes the chance") {
			t.Errorf("%v: %s", exchange, got)
		}
	}
}
