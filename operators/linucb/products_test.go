package linucb

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// unnoised returns a machine over sums without noise, and without a shift.
func unnoised(t *testing.T, m mechanisms.Config, lines ...string) *Machine {
	t.Helper()
	c, m := config(t, m, append([]string{"NOISE_SHIFT=0"}, lines...)...)
	machine, err := newMachine(c, mechtest.ZeroStream(t, m))
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// armsFile writes a file of arms with features, and returns the setting that names it.
func armsFile(t *testing.T, text string) (line string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arms")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "ARM_FEATURES=" + path
}

// TestProductsAgreeWithCandidates compares arms with features with candidates whose events contain all products
// of a context and the arm's features. Actions and models must agree, up to units, also for contexts longer than
// ORIEL_FEATURES_MAX.
func TestProductsAgreeWithCandidates(t *testing.T) {
	features := [][]float64{{0.5, 0.25}, {1, 1}, {2, -0.125}} // the features in the file that sizes names
	longest := math.Sqrt(4 + 0.125*0.125)
	lines := []string{"PLAYED=served", "EMIT_EVERY=2", "WAIT=64", "REWARD_RANGE=-1:1"}
	short := unnoised(t, optest.Life(256), append(lines, sizes, "DIMENSION=3")...)
	long := unnoised(t, optest.Life(256), append(lines, "CANDIDATES=3", "DIMENSION=6")...)
	rng, played := rand.New(rand.NewPCG(1, 22)), [3]int{}
	for i := range 400 {
		x := []float64{rng.NormFloat64(), rng.NormFloat64(), 1}
		by := max(1, math.Sqrt(x[0]*x[0]+x[1]*x[1]+1)) * longest
		var all []float64
		for _, phi := range features {
			for _, v := range x {
				for _, w := range phi {
					all = append(all, v*w/by)
				}
			}
		}
		w, other := &world{
			t:       t,
			machine: short,
			counted: operators.ByCount(short),
			offset:  2 * int64(i),
		}, &world{
			t:       t,
			machine: long,
			counted: operators.ByCount(long),
			offset:  2 * int64(i),
		}
		key := strconv.Itoa(i)
		a, b := w.add(key, context(x...)), other.add(key, context(all...))
		if a[0].Point[0] != b[0].Point[0] {
			t.Fatalf("context %d: arm %g is played, and candidate %g", i, a[0].Point[0], b[0].Point[0])
		}
		arm := int(a[0].Point[0])
		played[arm]++
		reward := rewarded(x[0] * float64(arm-1))
		c, d := w.add(key, reward), other.add(key, reward)
		for k, made := range c {
			for j, x := range made.Point {
				if made.Output == 0 {
					x *= longest
				}
				if math.Abs(x-d[k].Point[j]) > 1e-6 {
					t.Fatalf("context %d: %v, of candidates %v", i, made.Point, d[k].Point)
				}
			}
		}
	}
	if slices.Sort(played[:]); played[1] < 100 {
		t.Errorf("arms are played %v times", played)
	}
}

// TestOneHotProductsAreArms checks that, without noise, arms with one-hot features learn like arms with separate
// weights: the weights are equal up to their order.
func TestOneHotProductsAreArms(t *testing.T) {
	lines := []string{"PLAYED=logged", "DIMENSION=3", "EMIT_EVERY=1", "WEIGHTS_MAX=100"}
	tied := unnoised(t, optest.Window("blt"), append(lines, armsFile(t, "a:1:0\nb:0:1\n"))...)
	countedTied := operators.ByCount(tied)
	own := unnoised(t, optest.Window("blt"), append(lines, "ARMS=a,b")...)
	countedOwn := operators.ByCount(own)
	for i, e := range drawn(own.operator, 60, 2) {
		r := operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}}
		a, b := countedTied.Add(nil, r), countedOwn.Add(nil, r)
		for arm := range 2 {
			for k := range 3 {
				if x, y := a[0].Point[2*k+arm], b[0].Point[3*arm+k]; math.Abs(x-y) > 1e-6 {
					t.Fatalf("event %d: weights %v, of arms of their own %v", i, a[0].Point, b[0].Point)
				}
			}
		}
	}
}

// TestProductsFindWeights checks that the weights of rewards that are linear in products are found, in units of
// unscaled features. An arm that was never played is then predicted from the others.
func TestProductsFindWeights(t *testing.T) {
	features := [][]float64{{1, 0}, {1, 1}, {1, 2}, {1, 3}} // a constant feature and a size
	m := unnoised(t, optest.Life(1<<20), "PLAYED=logged", "DIMENSION=2", "EMIT_EVERY=1", "REWARD_RANGE=-10:10",
		"FEATURES_MAX=3", "START_REGULARIZER=0.001",
		armsFile(t, "none:1:0\nsmall:1:1\nmiddle:1:2\nlarge:1:3\n"), "WEIGHTS_MAX=100")
	counted := operators.ByCount(m)
	truth, rng := []float64{1, -0.5, 0.25, 0.5}, rand.New(rand.NewPCG(4, 22))
	mean := func(x []float64, arm int) (sum float64) {
		for k, w := range truth {
			sum += w * x[k/2] * features[arm][k%2]
		}
		return sum
	}
	var made []operators.Decision
	for i := range 500 {
		x, arm := []float64{2 * rng.NormFloat64(), 1}, rng.IntN(3)
		for math.Abs(x[0]) > 2.5 {
			x[0] /= 2
		}
		e := event.Event{Vector: event.Vector{Values: x}, Numbers: []float64{float64(arm), mean(x, arm)}}
		made = counted.Add(made[:0], operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
	}
	for k, w := range made[0].Point {
		if math.Abs(w-truth[k]) > 0.02 {
			t.Fatalf("weights %v, want %v", made[0].Point, truth)
		}
	}
	z, right := make([]float64, 4), 0
	m.model.width = 0
	for range 200 {
		x := []float64{2.5 * (2*rng.Float64() - 1), 1}
		best := 0
		for arm := range 4 {
			if mean(x, arm) > mean(x, best) {
				best = arm
			}
		}
		if m.choose(z, operators.Record{Event: context(x...)}) == best {
			right++
		}
	}
	if right < 190 {
		t.Errorf("%d of 200 are called right", right)
	}
}

// TestFeaturesOfArmsAreRefused checks that invalid files are refused. A stream keeps the features that the file had
// when the stream was opened, and must refuse params with other features.
func TestFeaturesOfArmsAreRefused(t *testing.T) {
	lines := []string{"PLAYED=logged", "DIMENSION=3"}
	for _, text := range []string{
		"a:1:2\n", "a:1\nb:1:2\n", "a:1\na:2\n", "a\nb\n", "a:x\nb:1\n", "a:0:0\nb:0:0\n", ":1\nb:2\n", "a:1e13\nb:1\n",
		"a:NaN\nb:1\n", "a\"b:1\nb:1\n", "a:1" + strings.Repeat(":1", 200) + "\nb:1" + strings.Repeat(":1", 200) + "\n", "",
	} {
		if _, err := optest.Configure(Definition, optest.Life(16), append(lines, armsFile(t, text))...); err == nil {
			t.Errorf("%.40q is taken", text)
		}
	}
	for _, other := range []string{"ARMS=a,b", "CANDIDATES=2"} {
		if _, err := optest.Configure(Definition, optest.Life(16), append(lines, sizes, other)...); err == nil {
			t.Errorf("%s is taken beside a file", other)
		}
	}
	c, m := config(t, optest.Life(16), append(lines, sizes)...)
	for _, bad := range []string{
		"1\na:1:2\nb:1:2", "1\na:1:2\nb:1:2\nc:1", "1\na\nb\nc", "2\na:1:2\nb:1:2\nc:1:2",
	} {
		if _, err := c.Open([]byte(bad), mechtest.ZeroStream(t, m)); err == nil {
			t.Errorf("params %q are taken", bad)
		}
	}
	machine, err := c.Open([]byte("1\na:1:2\nb:3:4\nc:0:0"), mechtest.ZeroStream(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if opened := machine.(*Machine); opened.arms[1] != "b" || opened.products.rows[1][1] != 0.8 {
		t.Errorf("%v, features %v", opened.arms, opened.products.rows)
	}
	if stated := c.Describe(m).Distance; !strings.Contains(stated, "products of 3 features of a context and 2 of an arm") {
		t.Errorf("plan says %q", stated)
	}
	params, err := c.Params(m)
	if want := "1\nsmall:0.5:0.25\nmiddle:1:1\nlarge:2:-0.125"; err != nil || string(params) != want {
		t.Errorf("params %q, want %q, %v", params, want, err)
	}
}

// TestManyArmsLearnFromEachOther checks 60 arms along an arc, with rewards that are linear in products, and noise at ε
// = 20. One shared weight vector has far less regret than separate weights for each arm, because 60 separate arms take
// long to learn.
func TestManyArmsLearnFromEachOther(t *testing.T) {
	const arms, steps = 60, 6000
	phi, file, names := make([][2]float64, arms), "", []string{}
	for a := range phi {
		at := math.Pi * float64(a) / arms
		phi[a] = [2]float64{math.Cos(at), math.Sin(at)}
		names = append(names, "a"+strconv.Itoa(a))
		file += names[a] + ":" + strconv.FormatFloat(phi[a][0], 'g', -1, 64) + ":" +
			strconv.FormatFloat(phi[a][1], 'g', -1, 64) + "\n"
	}
	regret := func(line string) (sum float64) {
		m := optest.Life(1 << 16)
		m.Budget.Epsilon = 20
		c, m := config(t, m, "PLAYED=logged", "DIMENSION=2", "EMIT_EVERY=16", "REWARD_RANGE=-1:1", line)
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{6}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		rng, z := rand.New(rand.NewPCG(7, 22)), make([]float64, c.rows.Features)
		for i := range steps {
			at := 2 * math.Pi * rng.Float64()
			x := [2]float64{math.Cos(at), math.Sin(at)}
			mean := func(a int) float64 { return 0.8 * (x[0]*phi[a][0] + x[1]*phi[a][1]) }
			e := context(x[:]...)
			arm, best := machine.choose(z, operators.Record{Event: e}), 0
			for a := range arms {
				if mean(a) > mean(best) {
					best = a
				}
			}
			sum += mean(best) - mean(arm)
			reward := -1.0
			if rng.Float64() < (1+mean(arm))/2 {
				reward = 1
			}
			e.Numbers = []float64{float64(arm), reward}
			counted.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
		}
		return sum
	}
	tied, own := regret(armsFile(t, file)), regret("ARMS="+strings.Join(names, ","))
	if t.Logf("regret %.0f, with weights of their own %.0f", tied, own); tied > own/3 {
		t.Errorf("regret %g, with weights of their own %g", tied, own)
	}
}
