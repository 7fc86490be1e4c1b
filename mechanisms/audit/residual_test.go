package audit_test

import (
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// rebuilt runs a planted sum for some steps and returns the results of the residual tests.
func rebuilt(t *testing.T, c mechanisms.Config, steps, runs int, f fault) []residual.Test {
	t.Helper()
	return rebuiltAfter(t, c, 0, steps, runs, f)
}

// rebuiltAfter is rebuilt for a mechanism with a memory. The stream starts at step late, without sums or noise of
// earlier steps.
func rebuiltAfter(t *testing.T, c mechanisms.Config, late uint64, steps, runs int, f fault) []residual.Test {
	t.Helper()
	p := mechtest.Plan(t, c)
	x, err := residual.New(c, p, steps)
	if err != nil {
		t.Fatal(err)
	}
	stream := open(t, c, p, f(t, c, p))
	start := stream.AppendState(nil)
	if late > 0 {
		x = x.After(late)
		if start, err = audit.At(c, p, start, late); err != nil {
			t.Fatal(err)
		}
	}
	battery, observer := residual.NewBattery(x), x.Observe()
	none, integers := make([]float64, c.Dimension()), make([]float64, c.Dimension())
	for run := range runs {
		if err := stream.Restore(start); err != nil {
			t.Fatal(err)
		}
		stream.Rekey(keyOf(uint64(run)))
		observer.Start(uint64(run))
		for step := range steps {
			id := noise.Identity{Partition: int32(run), Offset: int64(step)}
			if step%2 == 0 {
				stream.Add(id, nil)
				stream.Close()
				observer.Release(stream.Sum(0), none)
				continue
			}
			clear(integers)
			integers[step/2%len(integers)] = c.Clip()
			stream.Add(id, integers)
			stream.Close()
			observer.Release(stream.Sum(0), integers)
		}
		battery.Add(observer.Result())
	}
	return battery.Tests()
}

// bend plants a fault that changes each draw of a node or step; draws are numbered from 0 in each run.
func bend(change func(dst []int64, draw int, scale float64)) fault {
	return drawn(func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) func([]int64, noise.Seed, int) {
		whole := sampler(t, c, p.Scale)
		return func(dst []int64, seed noise.Seed, draw int) {
			whole.Fill(dst, seed)
			change(dst, draw, p.Scale.Float64())
		}
	})
}

func each(f func(x float64) float64) func(dst []int64, _ int, scale float64) {
	return func(dst []int64, _ int, scale float64) {
		for i, x := range dst {
			dst[i] = int64(f(float64(x)/scale) * scale)
		}
	}
}

// kept plants a fault that uses earlier draws: change gets all draws before the current one.
func kept(change func(dst []int64, before [][]int64)) fault {
	return func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) mechanisms.Sum {
		var before [][]int64
		whole := sampler(t, c, p.Scale)
		bent := &bentSampler{fill: func(dst []int64, seed noise.Seed, _ int) {
			whole.Fill(dst, seed)
			change(dst, before)
			before = append(before, append([]int64(nil), dst...))
		}}
		sum := mechtest.Sum(t, c, p, bent)
		return &bentSum{Sum: sum, restore: func() { before = nil }, add: sum.Add}
	}
}

// unlikePlan lists faults that an attack with a canary in one direction would not find, or only with many more runs.
var unlikePlan = []struct {
	what, name string // description of the fault, and name of the test that finds it
	fault      fault
}{
	{"noise a tenth too small", "scale", bend(each(func(x float64) float64 { return 0.9 * x }))},
	{"noise shared by pairs of coordinates", "coordinates", bend(func(dst []int64, _ int, _ float64) { dst[1] = dst[0] })},
	{
		"noise of two coordinates far apart shared", "repeats", bend(func(dst []int64, _ int, _ float64) { dst[3] = dst[0] }),
	},
	{"sizes shared, signs not", "coordinates", bend(func(dst []int64, draw int, _ float64) {
		if dst[2] = dst[1]; draw%2 == 0 {
			dst[2] = -dst[1]
		}
	})},
	{"the first coordinate smaller than the rest", "scale", bend(func(dst []int64, _ int, _ float64) { dst[0] /= 2 })},
	{"one seed for two draws", "repeats", kept(func(dst []int64, before [][]int64) {
		if n := len(before); n%2 == 1 {
			copy(dst, before[n-1])
		}
	})},
	{"a part of the draw before", "steps", kept(func(dst []int64, before [][]int64) {
		if n := len(before); n > 0 {
			for i := range dst {
				dst[i] = int64(0.98*float64(dst[i]) + 0.2*float64(before[n-1][i]))
			}
		}
	})},
	{"the same noise in all runs", "runs", drawn(func(
		t *testing.T, c mechanisms.Config, p mechanisms.Calibration,
	) func([]int64,
		noise.Seed, int) {
		whole := sampler(t, c, p.Scale)
		return func(dst []int64, _ noise.Seed, draw int) { whole.Fill(dst, noise.Seed{byte(draw), byte(draw >> 8)}) }
	})},
	{"a clamp at 3 scales", "tails", bend(each(func(x float64) float64 { return max(-3, min(3, x)) }))},
	{
		"uniform noise of the same variance", "law",
		bend(each(func(x float64) float64 { return math.Erf(x/math.Sqrt2) * math.Sqrt(3) })),
	},
	{"a mean of a tenth", "mean", bend(each(func(x float64) float64 { return x + 0.1 }))},
	{"contributions of 1.25 times their length", "contributions", longContributions},
}

func TestResidualsCatchPlantedFaults(t *testing.T) {
	for _, name := range []string{"blt", "tree-gaussian", "once-gaussian"} {
		c := config(name)
		if c.Contribution = contribution.OneComponent(4, c.Clip()); name == "tree-gaussian" {
			c.Scope = protection.Window{Steps: 64} // a window so long that each release has a single node
		}
		for _, x := range unlikePlan {
			finds(t, name+", "+x.what, rebuilt(t, c, 40, 250, x.fault), x.name)
		}
	}
	for _, name := range []string{"tree-laplace", "tree-gamma", "once-gamma"} {
		c := config(name)
		c.Contribution = contribution.OneComponent(4, c.Clip())
		for _, what := range []string{"scale", "coordinates", "runs", "contributions"} {
			for _, x := range unlikePlan {
				if x.name == what {
					finds(t, name+", "+x.what, rebuilt(t, c, 8, 250, x.fault), what)
				}
			}
		}
	}
}

// finds checks that the named test fails.
func finds(t *testing.T, what string, tests []residual.Test, name string) {
	t.Helper()
	for _, test := range tests {
		if test.Name == name {
			t.Logf("%s: %s, p %.2g, %s", what, name, test.P, test.Worst)
			if test.P < alpha/float64(len(tests)) {
				return
			}
		}
	}
	t.Errorf("%s: not caught by %s: %+v", what, name, tests)
}

// TestResidualsCatchMissingNodesOfLaterBlocks plants faults in blocks after the first: the noise of nodes of the
// previous block, or of one of its levels, is missing or half as large as it should be. A canary at step 1 cannot show
// these faults, because the first block does not have them.
func TestResidualsCatchMissingNodesOfLaterBlocks(t *testing.T) {
	without := func(missing func(id noise.NodeID) bool) fault {
		return func(t *testing.T, c mechanisms.Config, p mechanisms.Calibration) mechanisms.Sum {
			return newSlowTree(t, c, p, func(window, step uint64) (shown []noise.NodeID) {
				for _, id := range activeNodes(window, step) {
					if id.Block == (step-1)/window || !missing(id) {
						shown = append(shown, id)
					}
				}
				return shown
			})
		}
	}
	all := without(func(noise.NodeID) bool { return true })
	leafNodes := without(func(id noise.NodeID) bool { return id.Level == 0 })
	for _, name := range []string{"tree-gaussian", "tree-gaussian, zero-out", "tree-gamma", "tree-laplace"} {
		kind, more, _ := strings.Cut(name, ", ")
		c := config(kind)
		test, runs := "scale", 300
		if kind != "tree-gaussian" {
			test, runs = "later blocks", 900
		}
		if more != "" {
			c.Unit = protection.Event{Exchange: dp.ZeroOut}
		}
		finds(t, name+", noise of the block before missing", rebuilt(t, c, 20, runs, all), test)
		finds(t, name+", its leaves' noise missing", rebuilt(t, c, 20, runs, leafNodes), test)
		for _, honest := range rebuilt(t, c, 20, runs, without(func(noise.NodeID) bool { return false })) {
			if honest.P < alpha/12 {
				t.Errorf("%s: a false alarm: %+v", name, honest)
			}
		}
	}
}
