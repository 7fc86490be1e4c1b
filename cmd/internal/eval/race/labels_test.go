package race

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/settings"
)

// stamped has lines as records with timestamps.
type stamped struct {
	lines
	at []int64
}

func (s stamped) Each(ctx context.Context, f func(eval.Item) error) error {
	return s.lines.Each(ctx, func(i eval.Item) error {
		i.Record.Timestamp = s.at[i.Record.Offset]
		return f(i)
	})
}

// TestAnOddTimestampKeepsBackNoLabel checks that a record with an odd timestamp changes next to nothing of an
// evaluation with a delay, and that a warning names it. Users saw that nothing was learned behind a record of next
// year.
func TestAnOddTimestampKeepsBackNoLabel(t *testing.T) {
	in, o := eval.Input{Settings: []settings.Settings{load(t)}}, Options{Delay: Delay{Time: 10 * time.Second}}
	l, _, _ := sample(1000)
	const now, year = int64(1.7e12), int64(365 * 86400e3)
	var at []int64
	for k := range l {
		at = append(at, now+1000*int64(k))
	}
	straight := evaluate(t, in, stamped{l, at}, o)
	if odd := straight.Odd(); odd != "" {
		t.Error(odd)
	}
	for _, bad := range []int64{-1, 0, now / 1000, now * 1000, now + year} {
		for _, place := range []int{0, 300, 998} {
			if place == 0 && bad >= 0 && bad < now {
				continue // nothing shows that the first record is not older
			}
			bent := slices.Clone(at)
			bent[place] = bad
			r := evaluate(t, in, stamped{l, bent}, o)
			for k := range r.Rows {
				if a, b := r.Rows[k].Loss.Mean, straight.Rows[k].Loss.Mean; !(a > b-0.01 && a < b+0.01) {
					t.Errorf("%d at record %d: %s loses %v, want about %v", bad, place, r.Rows[k].Name, a, b)
				}
			}
			if odd := r.Odd(); !strings.Contains(odd, "1 of 1000 records") || !strings.Contains(odd, "10s off") {
				t.Errorf("%d at record %d: warned of %q", bad, place, odd)
			}
		}
	}
	in.Seeds = 1
	_, err := New(t.Context(), in, stamped{l, slices.Repeat([]int64{-1}, len(l))}, o)
	if err == nil || !strings.Contains(err.Error(), "have no timestamps; give the delay as a number of events") {
		t.Errorf("without timestamps: %v", err)
	}
}

// TestABurstOfOddTimestampsIsPassed checks that events with the times of next year, more than those around them can
// outvote, keep back learning only until as many others have their labels.
func TestABurstOfOddTimestampsIsPassed(t *testing.T) {
	var l labels
	learned := 0
	for k := range int64(1000) {
		for e := l.next(k); e != nil; e = l.next(k) {
			if e.Record.Offset != int64(learned) {
				t.Fatalf("record %d is learned from after %d others", e.Record.Offset, learned)
			}
			learned++
		}
		e := &scoredEvent{due: k + 10}
		if e.Record.Offset = k; k >= 100 && k < 130 {
			e.due += 1e9
		}
		l.add(e)
	}
	if learned < 1000-12 {
		t.Errorf("%d of 1000 records are learned from", learned)
	}
}
