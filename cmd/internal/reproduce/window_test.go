package reproduce

import "testing"

// The long form of windows: with four times the dimension a Γ tree loses about four times as much, and a Gaussian tree
// about twice. From W = 64 to 16 384 neither grows by more than its bound, and each grows. Regret is as 1/ε. blt is
// below the Gaussian tree, and that below the Γ tree, everywhere.
func TestLongWindows(t *testing.T) {
	got := kept(t, windows)
	for _, c := range []struct {
		row         string
		from, to    int
		least, most float64
	}{
		{"Γ", 0, 1, 3, 4.2},
		{"Gauss", 0, 1, 1.2, 2.1},
		{"blt", 0, 1, 1.1, 2.1},
		{"Γ", 3, 4, 1.5, 3.6},
		{"Gauss", 3, 4, 1.2, 2.4},
		{"blt", 3, 4, 1.2, 2.4},
		{"Γ", 0, 6, 7, 16},
		{"Gauss", 0, 6, 7, 13},
		{"blt", 0, 6, 7, 13},
	} {
		if times := got[c.row][c.to] / got[c.row][c.from]; !(times >= c.least && times <= c.most) {
			t.Errorf("%s, from %s to %s: %.2f times, want %g to %g", c.row, windows.Columns[c.from].Name,
				windows.Columns[c.to].Name, times, c.least, c.most)
		}
	}
	for column := range windows.Columns {
		inOrder(t, got, []order{{"none", "blt", column, 10}, {"blt", "Gauss", column, 1.5}, {"Gauss", "Γ", column, 1.2}})
	}
}
