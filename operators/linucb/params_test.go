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

// drawnNorm returns the norm of the weights of an arm whose rewards are all 1, under a plan.
func drawnNorm(t *testing.T, plan string, lines ...string) (float64, error) {
	t.Helper()
	c, m := config(t, optest.Life(4096), append(lines, "PLAYED=logged", "ARMS=a,b", "DIMENSION=4", "EMIT_EVERY=1",
		"NOISE_SHIFT=0")...)
	opened, err := c.Open([]byte(plan), mechtest.ZeroStream(t, m))
	if err != nil {
		return 0, err
	}
	point := []float64(nil)
	for i := range 4000 { // rewards are ½ + 2·z_1, with z_1 at most ¼
		e := context(0.25, 0.9, 0, 0)
		if i%2 == 1 {
			e = context(-0.25, 0.9, 0, 0)
		}
		e.Numbers = []float64{0, 0.5 + 2*e.Vector.Values[0]}
		for _, d := range opened.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}}) {
			point = d.Point
		}
	}
	return 2 * math.Sqrt(square(point[:4])), nil // converted to half ranges of rewards
}

// TestDeploymentsKeepTheirLargestWeights checks that a deployment keeps the limit with which it was opened. Settings
// with a different value than the plan are refused; settings without a value are not.
func TestDeploymentsKeepTheirLargestWeights(t *testing.T) {
	for _, c := range []struct {
		plan string
		want float64
		more []string
	}{
		{"3\n1\na\nb", 1, nil},
		{"3\n1.75\na\nb", 1.75, nil},
		{"3\n1.75\na\nb", 1.75, []string{"WEIGHTS_MAX=1.75"}},
	} {
		if got, err := drawnNorm(t, c.plan, c.more...); err != nil || math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("plan %q, %v: weights up to %g, want %g; %v", c.plan, c.more, got, c.want, err)
		}
	}
	if _, err := drawnNorm(t, "3\n1\na\nb", "WEIGHTS_MAX=2.5"); err == nil {
		t.Error("settings say 2.5 and the plan 1")
	}
	for _, bad := range []string{
		"", "3", "3\n1", "3\n1\na", "3\na\nb", "3\nNaN\na\nb", "3\n0\na\nb", "3\n1\na\nb\nc", "4\n1\na\nb", "1\na\nb",
	} {
		if _, err := drawnNorm(t, bad); err == nil {
			t.Errorf("plan %q is taken", bad)
		}
	}
	c, m := config(t, optest.Life(64), "PLAYED=logged", "ARMS=a,b", "DIMENSION=20")
	plan, err := c.Params(m)
	if want := "3\n" + strconv.FormatFloat(math.Sqrt(20)/4, 'g', -1, 64) + "\na\nb"; err != nil || string(plan) != want {
		t.Errorf("plan %q, want %q, %v", plan, want, err)
	}
}
