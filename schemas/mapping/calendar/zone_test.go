package calendar

import "testing"

func TestTextsThatAreNoZones(t *testing.T) {
	for _, text := range []string{
		"", "Europe/Berlin", "utc", "CET", "C-1", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,J60,J300",
		"CET-1CEST,M13.5.0,M10.5.0",
		"CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.0.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0/3x",
		"+1:00", "+24:00",
		"CET-168", "<CET-1", "-01:60",
	} {
		if _, err := ParseZone(text); err == nil {
			t.Errorf("%q is a zone", text)
		}
	}
}
