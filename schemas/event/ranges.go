package event

import (
	"fmt"
	"strings"

	"oriel/schemas/text"
)

// Range is a public range of a numeric feature. It must come from public knowledge, never from the data.
type Range struct {
	Name      string
	Low, High float64 // Low < High, High − Low finite
	Cyclic    bool    // Low and High are the same point of a circle: hours, weekdays, directions
}

// ParseRanges reads "distance:0:5000,hour:0:24:cyclic". The empty string means no ranges. A name may contain colons but
// no comma. The bounds are as ParseNumber reads them. Errors name the range; the caller must name the setting.
func ParseRanges(list string) ([]Range, error) {
	if list == "" {
		return nil, nil
	}
	var ranges []Range
	for k, part := range strings.Split(list, ",") {
		var r Range
		rest := part
		if before, found := strings.CutSuffix(rest, ":cyclic"); found {
			r.Cyclic = true
			rest = before
		}
		rest, high, okHigh := cutLast(rest)
		name, low, okLow := cutLast(rest)
		if !okHigh || !okLow {
			return nil, fmt.Errorf("range %d: not name:low:high or name:low:high:cyclic", k+1)
		}
		var ok bool
		if r.Low, ok = parseBound(low); !ok {
			return nil, fmt.Errorf("range %d, of %s: low is not a finite decimal number", k+1, text.Shown([]byte(name)))
		}
		if r.High, ok = parseBound(high); !ok {
			return nil, fmt.Errorf("range %d, of %s: high is not a finite decimal number", k+1, text.Shown([]byte(name)))
		}
		r.Name = name
		ranges = append(ranges, r)
	}
	return ranges, FeatureConfig{Norm: "none", Ranges: ranges}.Validate()
}

func cutLast(s string) (before, after string, found bool) {
	k := strings.LastIndexByte(s, ':')
	if k < 0 {
		return s, "", false
	}
	return s[:k], s[k+1:], true
}

func parseBound(s string) (float64, bool) {
	f, err := text.ParseNumber(s)
	return f, err == nil
}
