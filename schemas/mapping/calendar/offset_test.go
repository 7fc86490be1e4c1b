package calendar

import (
	"fmt"
	"testing"
	"time"
)

// TestInstantsAreThoseOfTheLibrary compares texts with times of package time, for offsets east and west of Greenwich. A
// leap second counts as the first second of the next minute.
func TestInstantsAreThoseOfTheLibrary(t *testing.T) {
	for _, offset := range []string{"Z", "+00:00", "+05:30", "-08:00", "-0330", "+14", "-00:01"} {
		for day := range 40 {
			at := time.Date(1968, 2, 27, 23, 59, 58, 0, time.UTC).Add(time.Duration(day*day*day) * 7919 * time.Minute)
			text := at.Format("2006-01-02T15:04:05") + offset
			layout := "2006-01-02T15:04:05Z07:00"
			switch len(offset) {
			case 5:
				layout = "2006-01-02T15:04:05Z0700"
			case 3:
				layout = "2006-01-02T15:04:05Z07"
			}
			want, err := time.Parse(layout, text)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := ParseInstant([]byte(text))
			if !ok || got.Local || got.Seconds-got.Offset != want.Unix() || got.Seconds != at.Unix() {
				t.Errorf("%s: %+v, %t, want %d", text, got, ok, want.Unix())
			}
		}
	}
	for _, minute := range []string{"2016-12-31T23:59", "1972-06-30T23:59", "2015-06-30T12:30"} {
		for _, offset := range []string{"Z", "-08:00"} {
			leap, ok := ParseInstant(fmt.Append(nil, minute, ":60", offset))
			last, known := ParseInstant(fmt.Append(nil, minute, ":59", offset))
			if !ok || !known || leap.Seconds != last.Seconds+1 || leap.Offset != last.Offset {
				t.Errorf("%s:60%s: %+v, %t", minute, offset, leap, ok)
			}
			if _, ok := ParseInstant(fmt.Append(nil, minute, ":61", offset)); ok {
				t.Errorf("%s:61%s is read", minute, offset)
			}
		}
	}
}
