package catalogue

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
