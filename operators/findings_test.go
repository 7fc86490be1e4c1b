package operators_test

import (
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/schemas/decision"
)

// TestFindingsAreReadFromDecisions checks what is shown before and from the first look on, and which arms a verdict
// names. The name of one arm ends like that of another.
func TestFindingsAreReadFromDecisions(t *testing.T) {
	e := operators.Experiment{Arms: []string{"A", "B", "new B"}, First: 4, Looks: 1000, Lift: true}
	for _, looks := range []uint64{9, 10} {
		d := decision.Decision{Config: decision.Config{Batch: 100}, Step: 3 + looks}
		add := func(name, value string) { d.Extras = append(d.Extras, decision.ExtraMember{Name: name, JSON: value}) }
		for _, name := range []string{"effect", "effect_low", "effect_high", "effect_e", "effect_p", "lift", "lift_low"} {
			add(name, "[0.5,0.25]")
		}
		add("lift_high", fmt.Sprintf("[2,%g]", math.MaxFloat64))
		for _, name := range []string{"arm_mean", "arm_mean_low", "arm_mean_high"} {
			add(name, "[0.1,0.2,0.3]")
		}
		add("verdict", `"new B better"`)
		add("stop_allowed", "0")
		add("balance_e", "2000")
		add("looks", fmt.Sprint(looks))
		add("recent", "0.5")
		add("experiment", "1")
		add("experiment_step", "4")
		f, err := e.Read(d)
		if err != nil {
			t.Fatal(err)
		}
		shown := looks == 10
		if f.Events != float64(100*looks) || f.Number != 1 || f.First != 4 || f.Unfit(&e) != shown {
			t.Errorf("%d looks: %+v", looks, f)
		}
		for k, effect := range f.Effects {
			if effect.Shown != shown || effect.Lift.Shown != shown || f.Means[k].Shown != shown {
				t.Errorf("%d looks: %s is shown %v, its lift %v", looks, effect.Arm, effect.Shown, effect.Lift.Shown)
			}
			if effect.Better != (effect.Arm == "new B") {
				t.Errorf("%s is better: %v", effect.Arm, effect.Better)
			}
			if !math.IsInf(effect.Lift.High, 1) != (k == 0) {
				t.Errorf("the lift of %s ends at %g", effect.Arm, effect.Lift.High)
			}
		}
	}
}

// TestMeansFollowTheirDefinition compares means with r·sum + (1 − r)·mean, r = min(1, q/n), where n is the number of
// steps, or with a memory Σγ^k over them.
func TestMeansFollowTheirDefinition(t *testing.T) {
	for _, scope := range []protection.Scope{protection.Window{Steps: 8}, protection.Decay{Steps: 16}} {
		c := mechtest.Config(1)
		if _, decays := scope.Memory(); decays {
			c.Name = "blt"
		}
		c.Scope = scope
		stream := mechtest.Open(t, c, [32]byte{2})
		means, want, weight := operators.NewMeans(scope, 3, 1), 0.0, 0.0
		for step := range 100 {
			stream.Add(noise.Identity{Offset: int64(step)}, []float64{0.5})
			stream.Close()
			if memory, decays := scope.Memory(); decays {
				weight *= 1 - 1/float64(memory)
			}
			weight++
			means.Learn(stream)
			r := math.Min(1, 3/weight)
			want += r * (stream.Sum(0)[0] - want)
			if got := means.Sums[0]; math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
				t.Fatalf("%s, step %d: mean %g, want %g", scope.Name(), step+1, got, want)
			}
		}
	}
}

// TestProbabilityScores checks that a probability's score is its logarithm, rounded down, and that draws by scores have
// the given probabilities up to a relative error of 2⁻²⁰.
func TestProbabilityScores(t *testing.T) {
	for _, p := range []float64{1, 0.5, 0.3, 1e-9} {
		got := math.Exp(float64(operators.ProbabilityScore(p)) / (1 << operators.ProbabilityBits))
		if got > p || got < p*(1-0x1p-19) {
			t.Errorf("%g is drawn with %g", p, got)
		}
	}
}
