package ridge

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/moments"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

func TestConformance(t *testing.T) {
	for _, kind := range kinds {
		for _, batch := range []uint64{1, 3} {
			kind.m.Batch = batch
			c, m := config(t, kind.m, kind.lines...)
			t.Run(kind.name, func(t *testing.T) {
				optest.Run(t, optest.Of(t, c, m), drawn(40, 4, batch))
			})
		}
	}
}

// TestGoldenDecisions checks that decisions without noise keep their bytes, because existing deployments have published
// them. Golden tests of the noise are in mechanisms.
func TestGoldenDecisions(t *testing.T) {
	want := map[string]string{
		"moments for life":    "f270787cac25c45c99cae8605f163741",
		"moments, window":     "d03e4570a0d77b27bdaf55619a5827b9",
		"innovation for life": "815d5b88aa95d47f74baac4a2f8a45a5",
		"moments, raised":     "e2ef9846374e3472f1fc0f13396e1057",
		"innovation, tree":    "608dc62a62234d6822ee04ca395b0e86",
	}
	for _, kind := range kinds {
		kind.m.Batch = 2
		c, m := config(t, kind.m, kind.lines...)
		machine, err := newMachine(c, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		digest := goldentest.NewDigest()
		for _, e := range drawn(200, 4, 11) {
			for _, d := range counted.Add(nil, operators.Record{Event: e}) {
				digest.Numbers(d.Point...)
				for _, extra := range d.Extras {
					digest.Numbers(extra.Number)
					digest.Numbers(extra.Numbers...)
				}
			}
		}
		if got := digest.String(); got != want[kind.name] {
			t.Errorf("%s: %s, stored %s", kind.name, got, want[kind.name])
		}
	}
}

// slow computes the weights of each step without noise from all events so far, by gonum's solver and the formulas of
// SPEC.md.
type slow struct {
	operator
	edge  float64
	z     [][]float64
	y, w  []float64
	point []float64

	deviation []float64 // deviations of the weights, if the noise of each number has standard deviation 1
	left      float64   // root mean square of the residuals
}

func (s *slow) add(e event.Event) {
	d := s.rows.Features
	z, square, prediction := make([]float64, d), 0.0, s.middle
	for k, x := range e.Vector.Values {
		if e.Vector.Indices != nil {
			k = int(e.Vector.Indices[k])
		}
		z[k] = x
	}
	for _, x := range z {
		square += x * x
	}
	for i := range z {
		z[i] /= math.Max(s.features, math.Sqrt(square))
		prediction += z[i] * s.features * s.point[i]
	}
	y := (math.Max(s.middle-s.half, math.Min(s.middle+s.half, e.Label)) - s.middle) / s.half
	if s.innovation {
		y = math.Max(-s.residual, math.Min(s.residual, e.Label-prediction)) / s.residual
	}
	s.z, s.y, s.w = append(s.z, z), append(s.y, y), append(s.w, math.Min(1, e.Weight))
}

func (s *slow) decide() {
	d, n := s.rows.Features, 0.0
	gram, cross := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	for k := range s.z {
		age, by := len(s.z)/int(s.batch)-1-k/int(s.batch), 1.0
		if memory, decays := s.terms.Scope.Memory(); decays {
			by = math.Pow(1-1/float64(memory), float64(age))
		}
		n += by
		z := mat.NewVecDense(d, s.z[k])
		gram.SymRankOne(gram, by*s.w[k], z)
		cross.AddScaledVec(cross, by*s.w[k]*s.y[k], z)
	}
	scale, unit := 1.0, s.half
	if s.innovation {
		scale, unit = s.gain/n, s.residual
	}
	if s.raise { // eigenvalues are raised to the edge, and no shift is added
		var e mat.EigenSym
		e.Factorize(gram, true)
		var q mat.Dense
		e.VectorsTo(&q)
		for k, x := range e.Values(nil) {
			gram.SymRankOne(gram, math.Max(0, s.edge-x), q.ColView(k))
		}
	}
	shift := map[bool]float64{false: s.edge}[s.raise]
	whole := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			whole.SetSym(i, j, scale*gram.At(i, j))
		}
		whole.SetSym(i, i, whole.At(i, i)+scale*shift+s.start+s.convexity*n)
	}
	var theta mat.VecDense
	if err := theta.SolveVec(whole, cross); err != nil {
		panic(err)
	}
	theta.ScaleVec(math.Min(1, s.maxWeights*s.half/unit/mat.Norm(&theta, 2)), &theta)
	for i := range s.point {
		s.point[i] = theta.AtVec(i) * unit / s.features
	}
	s.say(whole, &theta, unit, n)
}

// say computes the published accuracy of weights θ from the inverse M of the matrix that they were solved with. The
// noise in θ is M·(h − E·θ), where E is the noise of V and h the noise of u. The variance of coordinate i is a sum over
// pairs j ≤ k of the squared effect of E_jk, doubled if j = k, plus the variance from h.
func (s *slow) say(whole *mat.SymDense, theta *mat.VecDense, unit, n float64) {
	d, label := s.rows.Features, float64(s.rows.Label)/moments.MaxLabel
	var m mat.Dense
	if err := m.Inverse(whole); err != nil {
		panic(err)
	}
	s.deviation = make([]float64, d)
	for i := range d {
		variance := 0.0
		for j := range d {
			variance += m.At(i, j) * m.At(i, j) / (label * label)
			for k := j; k < d && !s.innovation; k++ {
				by := m.At(i, j)*theta.AtVec(k) + m.At(i, k)*theta.AtVec(j)
				if j == k {
					by = math.Sqrt2 * m.At(i, j) * theta.AtVec(j)
				}
				variance += by * by
			}
		}
		s.deviation[i] = math.Sqrt(variance) * unit / s.features
	}
	squares := 0.0
	for k, y := range s.y {
		by := s.w[k]
		if memory, decays := s.terms.Scope.Memory(); decays {
			by *= math.Pow(1-1/float64(memory), float64(len(s.z)/int(s.batch)-1-k/int(s.batch)))
		}
		if !s.innovation {
			y -= mat.Dot(mat.NewVecDense(d, s.z[k]), theta)
		}
		squares += by * y * y
	}
	s.left = math.Sqrt(squares/n) * unit
}

// TestWeightsMatchTheFormulas checks that decisions over sums without noise, and their stated accuracy, agree with
// the slow reference.
func TestWeightsMatchTheFormulas(t *testing.T) {
	for _, kind := range kinds {
		for _, batch := range []uint64{1, 3} {
			kind.m.Batch = batch
			c, m := config(t, kind.m, kind.lines...)
			machine, err := newMachine(c, mechtest.ZeroStream(t, m))
			if err != nil {
				t.Fatal(err)
			}
			counted := operators.ByCount(machine)
			model := slow{operator: c, edge: machine.edge, point: make([]float64, 4)}
			for i, e := range drawn(150, 4, 5) {
				model.add(e)
				for _, d := range counted.Add(nil, operators.Record{Event: e}) {
					model.decide()
					for k, x := range model.point {
						if far := math.Abs(d.Point[k] - x); far > 2e-3*(math.Abs(x)+c.half*0.05) {
							t.Fatalf("%s, B = %d, event %d: %v, want %v", kind.name, batch, i, d.Point, model.point)
						}
						sd, said := machine.deviation.At(d.Step), machine.members.deviation.Of(d.Extras)[k]
						if want := sd * model.deviation[k]; math.Abs(said-want) > 5e-3*want {
							t.Fatalf("%s, B = %d, event %d: deviation %d is %g, want %g", kind.name, batch, i, k, said, want)
						}
					}
					if said := machine.members.residual.Of(d.Extras); math.Abs(said-model.left) > 0.01*model.left+1e-3*c.half {
						t.Fatalf("%s, B = %d, event %d: residuals %g, want %g", kind.name, batch, i, said, model.left)
					}
				}
			}
		}
	}
}

// TestReferenceModelMatchesMachine compares the contribution of a record in the reference model with the machine's, for
// events of all kinds.
func TestReferenceModelMatchesMachine(t *testing.T) {
	for _, kind := range kinds {
		c, m := config(t, kind.m, kind.lines...)
		every := c.EmitAll().(operator)
		machine, err := newMachine(every, mechtest.Open(t, m, [32]byte{5}))
		if err != nil {
			t.Fatal(err)
		}
		optest.ReferenceAgrees(t, kind.name, machine, machine.contribution, newReference(every), 5, drawn(100, 4, 3))
	}
}

// TestCanariesReachTheSensitivity checks that the rows of canaries are orthogonal and of the largest possible length,
// for every direction u and for every decision.
func TestCanariesReachTheSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, kind := range kinds {
		c, _ := config(t, kind.m, kind.lines...)
		model, s := newReference(c), float64(c.rows.Label)/1024
		for k := range 200 {
			u := make([]float64, 5)
			for i := range u {
				u[i] = rng.NormFloat64()
			}
			if k < 10 {
				clear(u)
				u[k%5] = 1 - 2*float64(k/5)
			}
			for i := range model.decision {
				model.decision[i] = rng.NormFloat64()
			}
			maxWeights := float64(c.maxWeights*c.half) / c.features
			if norm := mat.Norm(mat.NewVecDense(4, model.decision), 2); norm > maxWeights {
				for i := range model.decision {
					model.decision[i] *= maxWeights / norm
				}
			}
			with, without := model.Canary(u, 1)
			a, b := make([]float64, 5), make([]float64, 5)
			model.Contribution(a, with)
			model.Contribution(b, without)
			var aa, bb, ab float64
			for i := range a {
				scale := 1.0
				if i == 4 {
					scale = s * s
				}
				aa, bb, ab = aa+scale*a[i]*a[i], bb+scale*b[i]*b[i], ab+scale*a[i]*b[i]
			}
			if math.Abs(aa-1-s*s) > 1e-9 || math.Abs(bb-1-s*s) > 1e-9 || math.Abs(ab) > 1e-9 {
				t.Fatalf("%s: rows of squares %g and %g, product %g, of %v", kind.name, aa, bb, ab, u)
			}
		}
	}
}

// TestContributionsReachTheirSensitivity checks contributions on the lattice of a plan. Contributions of canaries must
// reach the distance to which noise is calibrated, and no other contributions may exceed it.
func TestContributionsReachTheirSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for _, kind := range kinds {
		c, m := config(t, kind.m, kind.lines...)
		model, values := newReference(c), make([][]float64, 40)
		for i := range values {
			values[i] = []float64{1e9, 3, 3, 3, 50}
			for k := range values[i] {
				values[i][k] *= rng.NormFloat64()
			}
		}
		with, without := model.Canary([]float64{1, 0, 0, 0, 0}, 1)
		if !model.Contribution(values[0], with) || !model.Contribution(values[1], without) {
			t.Fatalf("%s: a canary adds nothing", kind.name)
		}
		mechtest.DistancesAreReached(t, c.rows, mechtest.Plan(t, m).Component(0).Grid, c.rows.Size(), values...)
	}
}

// TestDeviationsOfWeights compares the published deviation of the weights with the sample deviation over 200 keys, for
// the update moments. The noise is small relative to the data, so that the first-order formula holds. A variance of 200
// samples has a relative error of 0.1; the test allows 6.11 times this error. Weights are large relative to labels, so
// that most of the deviation comes from the noise in the moments of features.
func TestDeviationsOfWeights(t *testing.T) {
	m := optest.Life(400)
	m.Budget.Epsilon = 100
	c, m := config(t, m, "UPDATE=moments", "DIMENSION=3", "LABEL_RANGE=-1:1", "EMIT_EVERY=600", "START_REGULARIZER=1")
	const keys = 200
	rng := rand.New(rand.NewPCG(4, 4))
	events := make([]event.Event, 600)
	for i := range events {
		v := []float64{0.2 * rng.NormFloat64(), 0.2 * rng.NormFloat64(), 0.2 * rng.NormFloat64()}
		events[i] = event.Event{Vector: event.Vector{Values: v}, Label: 5 * v[0], Weight: 1}
	}
	var weights [3][]float64
	var said []float64
	plan := mechtest.Plan(t, m)
	for key := range keys {
		stream, err := mechanisms.Open(m, plan, [32]byte{byte(key), 17})
		if err != nil {
			t.Fatal(err)
		}
		machine, err := newMachine(c, stream)
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		for i, e := range events {
			for _, d := range counted.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}}) {
				for k, x := range d.Point {
					weights[k] = append(weights[k], x)
				}
				if key == 0 {
					said = append(said, machine.members.deviation.Of(d.Extras)...)
				}
			}
		}
	}
	for k, of := range weights {
		mean, square := 0.0, 0.0
		for _, x := range of {
			mean += x / keys
		}
		for _, x := range of {
			square += (x - mean) * (x - mean) / (keys - 1)
		}
		t.Logf("weight %d: %.3g, deviation %.4g, said %.4g", k, mean, math.Sqrt(square), said[k])
		if z := (square/(said[k]*said[k]) - 1) / math.Sqrt(2.0/keys); math.Abs(z) > 6.11 {
			t.Errorf("weight %d has deviation %g, said %g", k, math.Sqrt(square), said[k])
		}
	}
}

// TestSettingsAreRefused checks that invalid settings are refused, each by its name.
func TestSettingsAreRefused(t *testing.T) {
	base := []string{"UPDATE=moments", "DIMENSION=4", "LABEL_RANGE=-60:180"}
	for _, line := range []string{
		"DIMENSION=0", "DIMENSION=513", "LABEL_RANGE=5", "LABEL_RANGE=5:5", "LABEL_RANGE=1:1e13", "FEATURES_MAX=0",
		"LABEL_SHARE=1.1", "LABEL_SHARE=0.0001", "RESIDUAL_MAX=1", "UPDATE=innovation", "GAIN=-1", "NOISE_SHIFT=NaN",
		"WEIGHTS_MAX=0", "EMIT_EVERY=0", "START_REGULARIZER=-1", "STRONG_CONVEXITY=Inf",
	} {
		if _, err := optest.Configure(Definition, optest.Life(16), append(append([]string{}, base...), line)...); err == nil {
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
	c, m := config(t, optest.Life(16), base...)
	if _, err := c.Open([]byte{2}, nil); err == nil {
		t.Error("another plan is taken")
	}
	optest.RunTerms(t, m, protection.Decay{Steps: 32}, func(stream *mechanisms.Stream) error {
		_, err := newMachine(c, stream)
		return err
	})
	if label := c.rows.Label; label != 716 {
		t.Errorf("the default share is %d/%d", label, moments.MaxLabel)
	}
}

// TestAddAllocatesNothing checks that a step allocates no more than a stream without a machine, which allocates nothing
// without the race detector.
func TestAddAllocatesNothing(t *testing.T) {
	for _, kind := range kinds {
		c, m := config(t, kind.m, kind.lines...)
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{1}))
		if err != nil {
			t.Fatal(err)
		}
		optest.AllocatesNoMore(t, kind.name, machine, m, drawn(64, 4, 1))
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, lines := range [][]string{
		{"UPDATE=moments", "DIMENSION=16"},
		{"UPDATE=moments", "DIMENSION=27"},
		{"UPDATE=moments", "DIMENSION=27", "EMIT_EVERY=1"},
		{"UPDATE=moments", "DIMENSION=27", "EMIT_EVERY=1", "SPECTRUM=raise"},
		{"UPDATE=innovation", "DIMENSION=27", "RESIDUAL_MAX=0.1"},
		{"UPDATE=moments", "DIMENSION=54"},
	} {
		b.Run(strings.Join(lines, "/"), func(b *testing.B) {
			c, m := config(b, optest.Life(65536), append(lines, "LABEL_RANGE=-1:1")...)
			machine, err := newMachine(c, mechtest.Open(b, m, [32]byte{1}))
			if err != nil {
				b.Fatal(err)
			}
			counted := operators.ByCount(machine)
			events, dst, i := drawn(1024, c.rows.Features, 1), make([]operators.Decision, 0, 1), 0
			b.ReportAllocs()
			for b.Loop() {
				dst = counted.Add(dst[:0], operators.Record{Event: events[i%1024], Identity: noise.Identity{Offset: int64(i)}})
				i++
			}
		})
	}
}
