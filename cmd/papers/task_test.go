package papers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
)

// Task is a stream of losses over a set: of least squares, ½(y − ⟨v, x⟩)² + (µ/2)|x|², or of targets, (µ/2)|x − z|².
type Task struct {
	Name      string
	Set       catalogue.Spec
	Convexity float64  // µ: strong convexity of the losses
	Clip      float64  // L: clip of the gradients of the data terms
	Settings  []string // settings of coco, except update and mechanism

	// law returns a function that draws losses. A loss is valid until the next draw.
	law func(n int, rng *rand.Rand) func() Loss
}

// Targets is stream A: ½|x − z_t|² over the simplex of n vertices, with z_t the middle between a fixed point and a
// random one, both uniform on the simplex. Gradients have norm at most √2; the losses are 1-strongly convex without a
// regulariser.
func Targets(n int) Task {
	return Task{
		Name: "targets", Set: catalogue.Spec{Name: "simplex", Dimension: n, Radius: 1}, Convexity: 1, Clip: math.Sqrt2,
		Settings: []string{
			"ORIEL_LOSS=linear", "ORIEL_SET=simplex", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=" + strconv.Itoa(n),
			"ORIEL_STRONG_CONVEXITY=1", "ORIEL_OWN_CONVEXITY=true",
			"ORIEL_CLIP=" + strconv.FormatFloat(math.Sqrt2, 'g', -1, 64),
		},
		law: func(n int, rng *rand.Rand) func() Loss {
			fixed, z := make([]float64, n), make([]float64, n)
			uniform(fixed, rng)
			return func() Loss {
				uniform(z, rng)
				for i := range z {
					z[i] = (z[i] + fixed[i]) / 2
				}
				return Loss{Target: z}
			}
		},
	}
}

// Squares is stream B: ½(y_t − ⟨v_t, x⟩)² + 0.05|x − u|² over [0, 1]^10 with centre u. It is written relative to the
// centre: x is in [−½, ½]^10, and the label is y_t − ⟨v_t, u⟩. v_t is uniform on the sphere, y_t is ⟨v_t, x*⟩ plus
// noise of deviation 0.1, clamped to [−1, 1], and x* is uniform in the cube. Gradients of the first term are clipped to
// 1.
var Squares = Task{
	Name: "squares", Set: catalogue.Spec{Name: "box", Dimension: 10, Radius: 0.5}, Convexity: 0.1, Clip: 1,
	Settings: []string{
		"ORIEL_LOSS=squared", "ORIEL_SET=box", "ORIEL_RADIUS=0.5", "ORIEL_DIMENSION=10", "ORIEL_STRONG_CONVEXITY=0.1",
		"ORIEL_CLIP=1",
	},
	law: func(n int, rng *rand.Rand) func() Loss {
		best, v := make([]float64, n), make([]float64, n)
		for i := range best {
			best[i] = rng.Float64()
		}
		return func() Loss {
			for i := range v {
				v[i] = rng.NormFloat64()
			}
			floats.Scale(1/floats.Norm(v, 2), v)
			y := min(max(floats.Dot(v, best)+0.1*rng.NormFloat64(), -1), 1)
			return Loss{Features: v, Label: y - floats.Sum(v)/2}
		}
	},
}

// SquaresLabel bounds the absolute value of labels in Squares: 1 + ½|v|₁.
var SquaresLabel = 1 + math.Sqrt(10)/2

// uniform draws a point uniformly from the simplex.
func uniform(dst []float64, rng *rand.Rand) {
	for i := range dst {
		dst[i] = rng.ExpFloat64()
	}
	floats.Scale(1/floats.Sum(dst), dst)
}

// Open returns the set, and a function that draws the losses for a seed.
func (t Task) Open(seed int) (convex.Set, func() Loss, error) {
	set, err := catalogue.Parse(t.Set)
	if err != nil {
		return nil, nil, fmt.Errorf("reproduce: %s: %w", t.Name, err)
	}
	return set, t.law(t.Set.Dimension, rand.New(rand.NewPCG(uint64(seed), uint64(len(t.Name))))), nil
}
