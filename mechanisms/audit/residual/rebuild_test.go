package residual_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
)

// recorder records the draws of a sampler.
type recorder struct {
	noise.Sampler
	drawn [][]int64
}

func (r *recorder) Fill(dst []int64, seed noise.Seed) {
	r.Sampler.Fill(dst, seed)
	r.drawn = append(r.drawn, slices.Clone(dst))
}

// TestDrawsAreRebuilt recovers the drawn integers from releases and contributions, each to within a few units: for
// once- mechanisms and blt at every step, for a tree in its first block.
func TestDrawsAreRebuilt(t *testing.T) {
	for _, name := range []string{"once-gaussian", "blt", "tree-gaussian"} {
		c := config(name, 3, 64)
		p := mechtest.Plan(t, c)
		sampler, err := noise.NewGaussian(p.Scale)
		if err != nil {
			t.Fatal(err)
		}
		keeps := &recorder{Sampler: sampler}
		stream, rebuild := mechtest.Planted(t, c, p, keeps), newNoise(t, c, p, 64).Rebuilder()
		z, contribution := make([]float64, 3), []float64{0.5, -0.5, 0.25}
		for step := range 64 {
			stream.Add(noise.Identity{Offset: int64(step)}, contribution)
			stream.Close()
			rebuild.Next(z, stream.Sum(0), contribution)
			for i, n := range keeps.drawn[step] {
				if off := z[i]*p.Scale.Float64() - float64(n); math.Abs(off) > 4 {
					t.Fatalf("%s, step %d: a draw of %d is rebuilt as %g", name, step+1, n, z[i]*p.Scale.Float64())
				}
			}
		}
	}
}

// TestForecastsAreThoseOfTheCovariance compares a tree's innovations with L⁻¹ν, where LLᵀ is the covariance of
// releases. The reference uses a dense solver, with arbitrary nodes.
func TestForecastsAreThoseOfTheCovariance(t *testing.T) {
	for _, window := range []uint64{1, 2, 4, 16, 32} {
		const steps = 90
		f := definition.NewForest(window, steps)
		c := config("tree-gaussian", 1, window)
		p := mechtest.Plan(t, c)
		unit := p.Scale.Float64() * p.Grid.Unit()
		nodes := make([]float64, f.Nodes)
		for i := range nodes {
			nodes[i] = math.Sin(float64(i * i))
		}
		covariance, releases := mat.NewSymDense(steps, nil), mat.NewVecDense(steps, nil)
		for s, a := range f.Active {
			for _, node := range a {
				releases.SetVec(s, releases.AtVec(s)+nodes[node])
				for r, b := range f.Active[s:] {
					if slices.Contains(b, node) {
						covariance.SetSym(s, s+r, covariance.At(s, s+r)+1)
					}
				}
			}
		}
		var cholesky mat.Cholesky
		if !cholesky.Factorize(covariance) {
			t.Fatal("singular")
		}
		var lower mat.TriDense
		cholesky.LTo(&lower)
		var want mat.VecDense
		if err := want.SolveVec(&lower, releases); err != nil {
			t.Fatal(err)
		}
		rebuild, z := newNoise(t, c, p, steps).Rebuilder(), make([]float64, 1)
		for _, again := range []string{"", ", again"} {
			rebuild.Start(0)
			for s := range steps {
				rebuild.Next(z, []float64{releases.AtVec(s) * unit}, []float64{0})
				if math.Abs(z[0]-want.AtVec(s)) > 1e-9 {
					t.Fatalf("W = %d, release %d%s: %g, want %g", window, s+1, again, z[0], want.AtVec(s))
				}
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	c := config("blt", 2, 8)
	p := mechtest.Plan(t, c)
	for _, steps := range []int{0, residual.MaxSteps + 1} {
		if _, err := residual.New(c, p, steps); err == nil {
			t.Errorf("%d steps: accepted", steps)
		}
	}
	other := config("tree-gaussian", 2, 8)
	if _, err := residual.New(other, p, 1); err == nil {
		t.Error("a calibration of another mechanism")
	}
	other.Budget.Epsilon = 1e9
	if _, err := residual.New(other, mechtest.Plan(t, other), 1); err == nil {
		t.Error("noise that is small beside the lattice")
	}
}

// TestReleasesThatAreNotFinite checks that huge or non-finite releases give the value absurd, and fail a test.
func TestReleasesThatAreNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1), 1e300} {
		c := config("blt", 2, 8)
		x := newNoise(t, c, mechtest.Plan(t, c), 8)
		b, o := residual.NewBattery(x), x.Observe()
		for range 8 {
			o.Release([]float64{0, bad}, []float64{0, 0})
		}
		b.Add(o.Result())
		if len(alarms(b)) == 0 {
			t.Errorf("%g: %+v", bad, b.Tests())
		}
	}
}

// TestBatteryCounts checks that the results of a battery depend only on its runs, not on the goroutines that observed
// them.
func TestBatteryCounts(t *testing.T) {
	c := config("blt", 70, 8)
	x := newNoise(t, c, mechtest.Plan(t, c), 130)
	b := play(t, mechtest.Open(t, c, [32]byte{8}), x, 3)
	if b.Runs() != 3 {
		t.Errorf("%d runs", b.Runs())
	}
	again := play(t, mechtest.Open(t, c, [32]byte{8}), x, 3)
	for i, test := range b.Tests() {
		if test != again.Tests()[i] {
			t.Errorf("%+v, again %+v", test, again.Tests()[i])
		}
		if test.Name == "mean" && test.Count != 3*130*70 {
			t.Errorf("%d draws", test.Count)
		}
	}
	if got := fmt.Sprint(len(b.Tests())); got != "9" {
		t.Errorf("%s tests", got)
	}
}
