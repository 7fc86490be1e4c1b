package linucb

import (
	"math"
	"strconv"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/optest"
)

// TestLargestWeightsFollowFromTheDimension checks the limits on the norm of weights. The limit is max(1, √d/4), at most
// 2.5, for separate weights of an arm, and 2.5 for weights that all arms share. A setting replaces both limits. With a
// proved width there is no limit, and S = 2.5 is an assumption.
func TestLargestWeightsFollowFromTheDimension(t *testing.T) {
	for _, c := range []struct {
		want  float64
		lines []string
	}{
		{1, []string{"ARMS=a,b", "DIMENSION=1"}},
		{1, []string{"ARMS=a,b", "DIMENSION=16"}},
		{math.Sqrt(20) / 4, []string{"ARMS=a,b", "DIMENSION=20"}},
		{2.5, []string{sizes, "DIMENSION=20"}},
		{2.5, []string{"CANDIDATES=2", "DIMENSION=20"}},
		{2.5, []string{"ARMS=a,b", "DIMENSION=101"}},
		{0.125, []string{"ARMS=a,b", "DIMENSION=20", "WEIGHTS_MAX=0.125"}},
	} {
		o, _ := config(t, optest.Life(64), append(c.lines, "PLAYED=logged")...)
		if o.maxWeights != c.want {
			t.Errorf("%v: weights up to %g, want %g", c.lines, o.maxWeights, c.want)
		}
	}
	proved, _ := config(t, horizon(optest.Window("blt"), 64), "ARMS=a,b", "DIMENSION=20", "PLAYED=logged",
		"CONFIDENCE=0.9")
	if proved.maxWeights != 2.5 {
		t.Errorf("with a proved width S is %g", proved.maxWeights)
	}
}

// drawnNorm returns the norm of the weights of an arm whose rewards are all 1, under params.
func drawnNorm(t *testing.T, params string, lines ...string) (float64, error) {
	t.Helper()
	c, m := config(t, optest.Life(4096), append(lines, "PLAYED=logged", "ARMS=a,b", "DIMENSION=4", "EMIT_EVERY=1",
		"NOISE_SHIFT=0")...)
	opened, err := c.Open([]byte(params), mechtest.ZeroStream(t, m))
	if err != nil {
		return 0, err
	}
	countedOpened := operators.ByCount(opened)
	point := []float64(nil)
	for i := range 4000 { // rewards are ½ + 2·z_1, with z_1 at most ¼
		e := context(0.25, 0.9, 0, 0)
		if i%2 == 1 {
			e = context(-0.25, 0.9, 0, 0)
		}
		e.Numbers = []float64{0, 0.5 + 2*e.Vector.Values[0]}
		for _, d := range countedOpened.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}}) {
			point = d.Point
		}
	}
	return 2 * math.Sqrt(square(point[:4])), nil // converted to half ranges of rewards
}

// TestWeightsHaveALargestNorm checks that weights are scaled down to ORIEL_WEIGHTS_MAX, and that params of other arms
// or another version are refused.
func TestWeightsHaveALargestNorm(t *testing.T) {
	for _, want := range []float64{1, 1.75} {
		more := "WEIGHTS_MAX=" + strconv.FormatFloat(want, 'g', -1, 64)
		if got, err := drawnNorm(t, "1\na\nb", more); err != nil || math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: weights up to %g, %v", more, got, err)
		}
	}
	for _, bad := range []string{"", "1", "1\na", "1\na\nb\nc", "2\na\nb", "a\nb"} {
		if _, err := drawnNorm(t, bad); err == nil {
			t.Errorf("params %q are taken", bad)
		}
	}
	c, m := config(t, optest.Life(64), "PLAYED=logged", "ARMS=a,b", "DIMENSION=20")
	if params, err := c.Params(m); err != nil || string(params) != "1\na\nb" {
		t.Errorf("params %q, %v", params, err)
	}
}
