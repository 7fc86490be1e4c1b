package protection

// PerStep protects an event in the only release that contains it: each step's own sum is released once.
type PerStep struct{}

func (PerStep) Name() string { return "per-step release" }

// Span returns 0, because an event is in one release.
func (PerStep) Span() uint64 { return 0 }

func (PerStep) End() uint64                         { return Endless }
func (PerStep) ForLife() bool                       { return true }
func (PerStep) Memory() (steps uint64, decays bool) { return 0, false }
func (p PerStep) RoundedUp(bool) Scope              { return p }
func (PerStep) Figures() Figures                    { return Figures{} }

func (PerStep) BackgroundSteps() uint64 { return 0 }

func (PerStep) Validate() error                       { return nil }
func (PerStep) periods(uint64) uint64                 { return 1 }
func (PerStep) reached(uint64, float64, float64) bool { return true }
func (PerStep) capped() bool                          { return false }
