package deployment

import (
	"maps"
	"strings"
	"testing"
)

// TestOffsetsAreReadAsTheyAreWritten checks that a file of offsets is read again, also as Kafka's tools write it.
func TestOffsetsAreReadAsTheyAreWritten(t *testing.T) {
	want := Offsets{0: 5, 2: 0, 10: 1<<63 - 1}
	file := string(want.Append(nil, "trips"))
	if lines := "trips,0,5\ntrips,2,0\ntrips,10,9223372036854775807\n"; file != lines {
		t.Errorf("%q, want %q", file, lines)
	}
	for _, file := range []string{file, strings.ReplaceAll(file, "trips", `"trips"`), strings.ReplaceAll(file, ",", ", ") + "\n"} {
		if got, err := ParseOffsets([]byte(file), "trips"); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q is read as %v: %v", file, got, err)
		}
	}
	for file, says := range map[string]string{
		"":                            "want lines topic,partition,offset",
		"trips,0\n":                   "wrong number of fields",
		"late,trips,0,5\n":            "wrong number of fields",
		"trips,0,5\nother,1,5\n":      `line 2: topic "other"; the input is "trips"`,
		"trips,0,5\n\ntrips,0,5\n":    "line 3: partition 0 has a second line",
		"trips,-1,5\n":                "line 1: the partition and the offset",
		"trips,2147483648,5\n":        "line 1: the partition and the offset",
		"trips,0,9223372036854775808": "line 1: the partition and the offset",
	} {
		if got, err := ParseOffsets([]byte(file), "trips"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is read as %v: %v, want %q", file, got, err, says)
		}
	}
}
