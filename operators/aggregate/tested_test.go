package aggregate

import (
	"encoding/json"
	"fmt"
	"testing"

	"oriel/operators"
	"oriel/operators/aggregate/trial"
	"oriel/schemas/decision"
)

// TestFindingsAreThoseOfTheMembers checks that the findings read from a published decision equal those of the
// experiment, and that the descriptor describes them.
func TestFindingsAreThoseOfTheMembers(t *testing.T) {
	c, m := config(t, ending(100, 100),
		experimental("CELLS=variant=A|B|C", "PROPENSITIES=0.5|0.25|0.25", "EXPERIMENT_STEP=4")...)
	machine, x := quiet(t, c, m), c.Experiment()
	counted := operators.ByCount(machine)
	for i := range 6000 {
		e := converted(i)
		for _, d := range counted.Add(nil, operators.Record{Event: e}) {
			line := decision.NewEncoder(decision.Config{
				Stream: "0", Mechanism: "blt", Window: 1, Batch: 100, Epsilon: 1, Adjacency: "replace", Unit: "event",
			}, c.Extras()).Append(nil, d.Step, d.Step, d.Point, d.Extras)
			parsed, err := decision.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			f, err := x.Read(parsed)
			if err != nil {
				t.Fatal(err)
			}
			all := membersOf(c, d)
			events := max(0, float64(d.Step)-3) * 100
			shown := events >= 1000
			if f.Number != 1 || f.First != 4 || f.Events != events ||
				f.StopAllowed != (all["stop_allowed"].Number == 1) || f.Verdict != all["verdict"].Text ||
				f.Balance != all["balance_e"].Number || f.Recent != all["recent"].Number || len(f.Means) != 3 ||
				len(f.Effects) != 2 {
				t.Fatalf("step %d: %+v of %v", d.Step, f, all)
			}
			for k, effect := range f.Effects {
				want := fmt.Sprint(all["effect"].Numbers[k], all["effect_low"].Numbers[k], all["effect_high"].Numbers[k],
					all["effect_e"].Numbers[k], all["effect_p"].Numbers[k], all["lift"].Numbers[k], []string{"B", "C"}[k], shown)
				if got := fmt.Sprint(effect.Value, effect.Low, effect.High, effect.E, effect.P, effect.Lift.Value, effect.Arm,
					effect.Shown); got != want {
					t.Fatalf("step %d, arm %d: %s, want %s", d.Step, k+1, got, want)
				}
				if effect.Lift.High > 1e300 && effect.Lift.Shown && fmt.Sprint(effect.Lift.High) != "+Inf" {
					t.Fatalf("a lift without an end goes to %g", effect.Lift.High)
				}
			}
			if shown && f.Unfit(x) != (f.Verdict == trial.Unfit) || !shown && f.Unfit(x) {
				t.Fatalf("step %d: %+v", d.Step, f)
			}
			parsed.Extras = parsed.Extras[:len(parsed.Extras)-1]
			if _, err := x.Read(parsed); err == nil {
				t.Fatal("a decision without its last member is read")
			}
		}
	}
	var d struct{ Experiment *operators.Experiment }
	const want = "{[A B C] 0.05 converted 0 1 5000 4 1000 true []}"
	if err := json.Unmarshal(c.Descriptor(), &d); err != nil || fmt.Sprint(*d.Experiment) != want {
		t.Errorf("descriptor: %v %v", d.Experiment, err)
	}
	if c, _ := config(t, ending(100, 100), "CELLS=variant=A|B"); c.Experiment() != nil {
		t.Error("an experiment without settings")
	}
}
