package linucb

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
)

// TestReferenceModelMatchesMachine compares the contribution of a logged event in the reference model with the
// machine's, for events of all kinds.
func TestReferenceModelMatchesMachine(t *testing.T) {
	for _, kind := range kinds {
		c, m := config(t, kind.m, kind.lines...)
		every := c.EmitAll().(operator)
		machine, err := newMachine(every, mechtest.Open(t, m, [32]byte{5}))
		if err != nil {
			t.Fatal(err)
		}
		model, want, some := reference{operator: every}, make([]float64, c.rows.Entries()), 0
		for _, e := range drawn(c, 100, 3) {
			r := operators.Record{Event: e}
			got := make([]float64, len(want))
			adds := machine.learn(got, r)
			if adds != model.Contribution(want, r) {
				t.Fatalf("%s: one of the two adds nothing of %v", kind.name, e)
			}
			if !adds {
				continue
			}
			some++
			want[len(want)-1] = max(-1, min(1, want[len(want)-1]))
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-12 {
					t.Fatalf("%s: contribution %v, want %v", kind.name, got, want)
				}
			}
		}
		if some < 50 {
			t.Errorf("%s: %d events add something", kind.name, some)
		}
	}
}

// TestCanariesReachTheSensitivity checks that the contributions of an audit's canaries are at the declared sensitivity,
// in every direction.
func TestCanariesReachTheSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, kind := range kinds {
		c, _ := config(t, kind.m, kind.lines...)
		model, s := reference{operator: c}, float64(c.rows.Label)/1024
		for k := range 100 {
			u := make([]float64, 5)
			for i := range u {
				u[i] = rng.NormFloat64()
			}
			if k < 10 {
				clear(u)
				u[k%5] = 1 - 2*float64(k/5)
			}
			with, without := model.Canary(u, 1)
			sum := 0.0
			a, b := triangle(t, model, with, s), triangle(t, model, without, s)
			for i := range a {
				sum += (a[i] - b[i]) * (a[i] - b[i])
			}
			if math.Abs(math.Sqrt(sum)-(1+s*s)) > 1e-9 {
				t.Fatalf("%s: rows %g apart, want %g, of %v", kind.name, math.Sqrt(sum), 1+s*s, u)
			}
		}
	}
}

// TestContributionsReachTheirSensitivity checks contributions on the lattice of a plan. Contributions of canaries must
// reach the distance to which noise is calibrated, and no other contributions, in any block, may exceed it.
func TestContributionsReachTheirSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for _, kind := range kinds {
		c, m := config(t, kind.m, kind.lines...)
		model, values := reference{operator: c}, make([][]float64, 40)
		for i := range values {
			values[i] = make([]float64, c.rows.Entries())
			for k := range values[i] {
				values[i][k] = 50 * rng.NormFloat64()
			}
			if c.blocks() > 1 {
				values[i][0] = float64(rng.IntN(c.blocks() + 1))
			}
		}
		with, without := model.Canary([]float64{1, 0, 0, 0, 0}, 1)
		if !model.Contribution(values[0], with) || !model.Contribution(values[1], without) {
			t.Fatalf("%s: a canary adds nothing", kind.name)
		}
		mechtest.DistancesAreReached(t, c.rows, mechtest.Plan(t, m).Component(0).Grid, c.rows.Size(), values...)
	}
}

// triangle returns the amounts that a record adds to all blocks, in units of the noise: the upper triangles of rows (z;
// s·y), with diagonals divided by √2.
func triangle(t *testing.T, model reference, r operators.Record, s float64) (out []float64) {
	t.Helper()
	contribution, d := make([]float64, model.rows.Entries()), model.rows.Features
	if !model.Contribution(contribution, r) {
		t.Fatal("a canary adds nothing")
	}
	row := contribution[len(contribution)-d-1:]
	row[d] = s * max(-1, min(1, row[d]))
	for block := range model.blocks() {
		for i, x := range row {
			for j, y := range row[i:] {
				v := x * y
				if j == 0 {
					v /= math.Sqrt2
				}
				if model.blocks() > 1 && contribution[0] != float64(block) {
					v = 0
				}
				out = append(out, v)
			}
		}
	}
	return out
}

// TestModelsMatchTheFormulas checks that weights and actions over sums without noise agree with gonum's solver and
// the formulas of SPEC.md.
func TestModelsMatchTheFormulas(t *testing.T) {
	for _, kind := range kinds {
		c, m := config(t, kind.m, kind.lines...)
		c.served, c.doubling = false, false // TestDoubledDeterminants tests doubling
		c.every = 4
		machine, err := newMachine(c, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		d := 4
		gram, cross := make([]*mat.SymDense, c.blocks()), make([]*mat.VecDense, c.blocks())
		for i := range gram {
			gram[i], cross[i] = mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
		}
		model := reference{operator: c}
		for i, e := range drawn(c, 120, 5) {
			contribution := make([]float64, c.rows.Entries())
			block := 0
			for a := range gram {
				if memory, decays := m.Scope.Memory(); decays {
					by := 1 - 1/float64(memory)
					gram[a].ScaleSym(by, gram[a])
					cross[a].ScaleVec(by, cross[a])
				}
			}
			if model.Contribution(contribution, operators.Record{Event: e}) {
				if c.blocks() > 1 {
					block = int(contribution[0])
				}
				row := contribution[len(contribution)-d-1:]
				z := mat.NewVecDense(d, row[:d])
				gram[block].SymRankOne(gram[block], 1, z)
				cross[block].AddScaledVec(cross[block], max(-1, min(1, row[d])), z)
			}
			if len(counted.Add(nil, operators.Record{Event: e})) == 0 {
				continue
			}
			for a := range gram {
				whole := mat.NewSymDense(d, nil)
				whole.CopySym(gram[a])
				for k := range d {
					whole.SetSym(k, k, whole.At(k, k)+machine.model.bounds.shift+c.start)
				}
				var theta mat.VecDense
				if err := theta.SolveVec(whole, cross[a]); err != nil {
					t.Fatal(err)
				}
				by := 1.0
				if c.confidence == 0 {
					by = min(1, c.maxWeights/mat.Norm(&theta, 2))
				}
				for k := range d {
					got, want := machine.model.arms[a].theta[k], theta.AtVec(k)*by
					if math.Abs(got-want) > 2e-3*(math.Abs(want)+0.1) {
						t.Fatalf("%s, event %d, arm %d: weights %v, want %v", kind.name, i, a, machine.model.arms[a].theta, want)
					}
				}
				var chol mat.Cholesky
				if !chol.Factorize(whole) {
					t.Fatal("no factor")
				}
				if far := math.Abs(machine.model.arms[a].system.LogDeterminant() - chol.LogDet()); far > 1e-3 {
					t.Fatalf("%s: ln det is %g off", kind.name, far)
				}
				z := mat.NewVecDense(d, []float64{0.5, -0.5, 0.1, 0.7})
				var solved mat.VecDense
				if err := chol.SolveVecTo(&solved, z); err != nil {
					t.Fatal(err)
				}
				want := mat.Dot(&theta, z)*by + machine.model.arms[a].width*math.Sqrt(mat.Dot(z, &solved))
				if got := machine.model.score(a, z.RawVector().Data); math.Abs(got-want) > 1e-3*(1+math.Abs(want)) {
					t.Fatalf("%s: score %g, want %g", kind.name, got, want)
				}
			}
		}
	}
}

// TestSettingsAreRefused checks that invalid settings are refused, each by its name.
func TestSettingsAreRefused(t *testing.T) {
	base := []string{"PLAYED=served", "ARMS=a,b", "DIMENSION=4"}
	for _, line := range []string{
		"DIMENSION=0", "DIMENSION=513", "REWARD_RANGE=5", "REWARD_RANGE=5:5", "FEATURES_MAX=0", "LABEL_SHARE=1.1",
		"NOISE_SHIFT=NaN", "WEIGHTS_MAX=1e-7", "WEIGHTS_MAX=NaN", "EMIT_EVERY=0", "START_REGULARIZER=-1", "ARMS=a",
		"ARMS=a,a", "CANDIDATES=3", "CANDIDATES=1", "CONFIDENCE=0.3", "CONFIDENCE=0.9",
		"WIDTH=-1", "WAIT=0", "PLAYED=guessed",
		`ARMS=a,"b"`, "CAPACITY=1048577",
	} {
		lines := append(append([]string{}, base...), line)
		if _, err := optest.Configure(Definition, optest.Life(16), lines...); err == nil {
			t.Errorf("%s is taken", line)
		}
	}
	for name, scope := range map[string]protection.Scope{
		"once-gaussian": protection.PerStep{}, "tree-gamma": protection.Window{Steps: 64},
	} {
		m := optest.Under(name, scope, dp.Replace)
		if _, err := optest.Configure(Definition, m, base...); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	// No width is proved if sums decay, for any number of steps.
	if _, err := optest.Configure(
		Definition, optest.Life(16), append(base, "ROUNDS=64", "CONFIDENCE=0.9")...,
	); err == nil {
		t.Error("a proved width is taken with a memory")
	}
	proved, window := config(t, horizon(optest.Window("blt"), 64), append(base, "CONFIDENCE=0.9")...)
	if window.Scope = (protection.Window{Steps: 64}); proved.Require(&window, nil) == nil {
		t.Error("a proved width is taken of a stream that goes on beyond its horizon")
	}
	c, m := config(t, optest.Life(16), base...)
	if _, err := c.Open([]byte("1\na"), nil); err == nil {
		t.Error("params of other arms are taken")
	}
	optest.RunTerms(t, m, protection.Decay{Steps: 32}, func(stream *mechanisms.Stream) error {
		_, err := newMachine(c, stream)
		return err
	})
}

// TestServedReadsKeys checks how Events describes record keys. If actions are served, keys are names of plays. User
// level by ids in records has no proof then, and package settings refuses it because Events states that keys are read.
// If events are logged, a contribution is added with its event, and user levels work as elsewhere.
func TestServedReadsKeys(t *testing.T) {
	for _, kind := range kinds {
		c, m := config(t, kind.m, kind.lines...)
		if Definition.Events(optest.Values(Definition, kind.m, kind.lines...)).Keyed != c.served {
			t.Errorf("%s: keys are read: %t", kind.name, !c.served)
		}
		if m.Unit = (protection.User{Exchange: dp.Replace, Separation: 3}); (c.Require(&m, nil) == nil) == c.served {
			t.Errorf("%s: a user level is taken: %t", kind.name, c.served)
		}
	}
}

// TestAddAllocatesNothing checks that a step of logged events allocates no more than a stream without a machine, which
// allocates nothing without the race detector.
func TestAddAllocatesNothing(t *testing.T) {
	for _, kind := range kinds {
		c, m := config(t, kind.m, kind.lines...)
		if m.Scope.End() != protection.Endless {
			continue // this kind's stream ends too soon
		}
		c.served = false
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{1}))
		if err != nil {
			t.Fatal(err)
		}
		optest.AllocatesNoMore(t, kind.name, machine, m, drawn(c, 64, 1))
	}
}

func BenchmarkAdd(b *testing.B) {
	ten := "ARMS=a,b,c,d,e,f,g,h,i,j"
	for _, lines := range [][]string{
		{"PLAYED=logged", ten, "DIMENSION=16"},
		{"PLAYED=served", ten, "DIMENSION=16"},
		{"PLAYED=served", ten, "DIMENSION=16", "WIDTH=0"},
		{"PLAYED=logged", "CANDIDATES=10", "DIMENSION=54"},
		{"PLAYED=served", "CANDIDATES=10", "DIMENSION=54"},
	} {
		b.Run(strings.Join(lines, "/"), func(b *testing.B) {
			c, m := config(b, optest.Life(65536), lines...)
			machine, err := newMachine(c, mechtest.Open(b, m, [32]byte{1}))
			if err != nil {
				b.Fatal(err)
			}
			counted := operators.ByCount(machine)
			events, dst, i := drawn(c, 1024, 1), make([]operators.Decision, 0, 2), 0
			keys := make([][]byte, 1024)
			for i := range keys {
				keys[i] = strconv.AppendInt(nil, int64(i/2), 10)
			}
			b.ReportAllocs()
			for b.Loop() {
				dst = counted.Add(dst[:0], operators.Record{
					Event: events[i%1024], Key: keys[i%1024], Identity: noise.Identity{Offset: int64(i)},
				})
				i++
			}
		})
	}
}

// TestDecisionsAreFiniteAtTheEndsOfSettings checks that with settings at the ends of their ranges every number of a
// decision is finite, so that it can be encoded. Every context must still get an action.
func TestDecisionsAreFiniteAtTheEndsOfSettings(t *testing.T) {
	for _, more := range [][]string{
		{"START_REGULARIZER=1e-310", "NOISE_SHIFT=0", "FEATURES_MAX=1e-12", "LABEL_SHARE=0.001", "WEIGHTS_MAX=1e6"},
		{"START_REGULARIZER=0", "NOISE_SHIFT=0", "WIDTH=1000"},
		{"START_REGULARIZER=1e12", "NOISE_SHIFT=1000", "WIDTH=1000", "FEATURES_MAX=1e12"},
		{"CONFIDENCE=0.999999", "START_REGULARIZER=0", "WEIGHTS_MAX=1e6", "FEATURES_MAX=1e-12", "LABEL_SHARE=0.001"},
		{"CONFIDENCE=0.5", "START_REGULARIZER=1e12", "WEIGHTS_MAX=1e-6", "SOLVE=doubled"},
	} {
		for _, noisy := range []bool{false, true} {
			m := horizon(optest.Window("blt"), 256)
			c, m := config(t, m, append(more, "PLAYED=served", "ARMS=a,b", "DIMENSION=4", "REWARD_RANGE=-1e12:1e12",
				"EMIT_EVERY=1")...)
			stream := mechtest.ZeroStream(t, m)
			if noisy {
				stream = mechtest.Open(t, m, [32]byte{4})
			}
			machine, err := newMachine(c, stream)
			if err != nil {
				t.Fatal(err)
			}
			counted := operators.ByCount(machine)
			for i, e := range drawn(c, 200, 3) {
				r := operators.Record{Event: e, Key: keyOf(i), Identity: noise.Identity{Offset: int64(i)}}
				for _, d := range counted.Add(nil, r) {
					for _, x := range append([]float64{
						machine.members.width.Of(d.Extras), machine.members.shift.Of(d.Extras), machine.members.doublings.Of(d.Extras),
					}, d.Point...) {
						if !(math.Abs(x) <= math.MaxFloat64) {
							t.Fatalf("%v, noise %t: decision %d is %v, %+v", more, noisy, i, d.Point, d.Extras)
						}
					}
				}
			}
		}
	}
}
