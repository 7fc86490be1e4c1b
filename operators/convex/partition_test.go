package convex

import (
	"strings"
	"testing"
)

func TestPartitionsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		blocks []string
		want   string
	}{
		{nil, "no blocks"},
		{[]string{"2:1", "3:3"}, "block 2: not size:pick"},
		{[]string{"5:0"}, "block 1: not size:pick"},
		{[]string{"2:1", "4:1"}, "block 2: not size:pick"},
		{[]string{"2:1", "9223372036854775807:1"}, "block 2: not size:pick"},
		{[]string{"2"}, "block 1: not size:pick"},
		{[]string{"2:1", "2:1"}, "4 coordinates in all: 5 dimensions"},
	} {
		_, err := Parse(Spec{Name: "partition", Dimension: 5, Radius: 1, Blocks: c.blocks})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.blocks, err, c.want)
		}
	}
}

// FuzzParseBlock checks that parsing a canonical form changes nothing and keeps the numbers.
func FuzzParseBlock(f *testing.F) {
	for _, text := range []string{"2:1", " 07 : +3", "3:3", "-2:-3", "2:1:1", "", ":"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		canonical, ok := ParseBlock(text)
		if !ok {
			return
		}
		again, ok := ParseBlock(canonical)
		size, pick, _ := block(text)
		sameSize, samePick, _ := block(canonical)
		if !ok || again != canonical || size != sameSize || pick != samePick {
			t.Fatalf("%q is %q, then %q", text, canonical, again)
		}
	})
}
