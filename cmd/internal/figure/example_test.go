package figure_test

import (
	"fmt"
	"strings"

	"oriel/cmd/internal/figure"
)

// The example draws, for positions along a stream, a private count with its interval and the true count, and the
// count's error beside the error of another mechanism.
func Example() {
	count := figure.Line{
		End:    "AA",
		Points: []figure.Point{{X: 100, Y: 93}, {X: 200, Y: 214}, {X: 300, Y: 305}},
		Band:   []figure.Interval{{X: 100, Low: 63, High: 123}, {X: 200, Low: 184, High: 244}, {X: 300, Low: 275, High: 335}},
		Truth:  []figure.Point{{X: 100, Y: 100}, {X: 200, Y: 200}, {X: 300, Y: 300}},
	}
	slide := figure.Slide{
		Title: "Departures, counted under ε = 1", Subtitle: "line and band: private, 95 % · dots: the truth", Share: 0.6,
		Left: &figure.Chart{X: figure.Axis{Name: "steps"}, Y: figure.Axis{Name: "departures"}, Lines: []figure.Line{count}},
		Right: &figure.Rows{Name: "± at 95 %, departures", Rows: []figure.Row{
			{Name: "blt", Text: "± 30", Bold: true, Look: 0, Value: 30},
			{Name: "tree-gaussian", Text: "± 90", Look: 1, Value: 90},
		}},
	}
	svg, err := slide.SVG()
	fmt.Println(strings.Contains(string(svg), ">Departures, counted under ε = 1</text>"), err)
	// Output: true <nil>
}
