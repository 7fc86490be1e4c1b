package numbers

import (
	"fmt"
	"slices"
	"testing"
)

// TestMarginalsHaveANameOfTheirOwn checks that no cell has the place that stands for all places, whatever the cells of
// the deployment are called.
func TestMarginalsHaveANameOfTheirOwn(t *testing.T) {
	for _, c := range []struct{ cells, want string }{
		{`"a=x,b=1","a=y,b=1"`, "all"},
		{`"a=x,b=1","a=all,b=1"`, "(all)"},
		{`"a=x,b=all","a=(all),b=all"`, "((all))"},
	} {
		n, err := ParseNames(fmt.Appendf(nil, `{"cells":[%s],"statistics":["count"],"views":[{"memory":4,"of":"s"}],"emit_every":1}`, c.cells))
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range [][]string{nil, {"a"}, {"b"}} {
			groups, err := n.groups(by)
			if err != nil {
				t.Fatal(err)
			}
			cells := 0
			for _, g := range groups {
				cells += len(g.cells)
				for i, name := range n.dimensions {
					if (g.places[i] == c.want) != !slices.Contains(by, name) {
						t.Errorf("%s by %v: places %v, want %s for a dimension that is summed over", c.cells, by, g.places, c.want)
					}
				}
			}
			if cells != 2 {
				t.Errorf("%s by %v: %d cells", c.cells, by, cells)
			}
		}
	}
}
