package protection

import "fmt"

// Decay protects an event in all releases, for ever. Sums decay by 1 − 1/H a step, H = Steps, and noise starts anew at
// public steps. The loss of an event grows for about H steps, and then stays constant.
type Decay struct{ Steps uint64 }

func (Decay) Name() string                          { return "decay" }
func (d Decay) Span() uint64                        { return d.Steps }
func (Decay) End() uint64                           { return Endless }
func (Decay) ForLife() bool                         { return true }
func (d Decay) Memory() (steps uint64, decays bool) { return d.Steps, true }
func (d Decay) RoundedUp(bool) Scope                { return d }
func (d Decay) Figures() Figures                    { return Figures{Memory: d.Steps} }
func (d Decay) Ages() []Age                         { return spans(d.Steps, "H", "after_1_memory", "memories") }

// Logged returns the ages of one step, of one and ten memories, and of all steps.
func (d Decay) Logged() []Age {
	all := d.Ages()
	return []Age{
		{Steps: 1, Name: "1", Figure: "after_1_step"}, all[0], all[1], {Steps: Endless, Name: "ever", Figure: "ever"},
	}
}

func (Decay) BackgroundSteps() uint64 { return 0 }

// Words returns texts that name H.
func (d Decay) Words() Words {
	return Words{
		Letter: "H", Length: "for life, memory H = " + counted(d.Steps, "step"),
		Claim: fmt.Sprintf(", for ever, with a memory of %d steps", d.Steps), Point: " for ever", At: times(10, d.Steps),
		Brief:   fmt.Sprintf(", for life, with a memory of %d steps", d.Steps),
		Promise: "differential privacy of each stream's whole life: sums forget", Key: "memory_steps", Steps: d.Steps,
	}
}

// Validate refuses a memory of 0 steps.
func (d Decay) Validate() error {
	if d.Steps == 0 {
		return fmt.Errorf("protection: memory 0: sums decay over one step at least")
	}
	return nil
}

func (Decay) periods(uint64) uint64                  { return 1 }
func (Decay) reached(_ uint64, mu, all float64) bool { return mu >= all }
func (Decay) capped() bool                           { return true }
