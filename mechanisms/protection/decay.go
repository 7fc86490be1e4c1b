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
func (Decay) BackgroundSteps() uint64               { return 0 }

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
