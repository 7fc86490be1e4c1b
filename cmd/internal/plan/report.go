package plan

import (
	"time"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// Input holds the settings and rates of a report.
type Input struct {
	Configured  mechanisms.Config
	Operator    operators.Operator
	Name        string           // of the operator
	AgeWeight   float64          // of blt, when another mechanism is configured
	Rate        float64          // events a second of one stream; 0 when not known
	Age         uint64           // steps, an age beside those of whole windows; 0 for none
	Measure     time.Duration    // for measuring steps, of all mechanisms together; 0 for no measurement
	SealedState int              // bytes of a sealed state of the configured stream
	Second      bool             // the deployment goes on after another one: a second life
	Published   Published        // what the configured stream publishes
	Draws       dp.Draws         // of a stream that releases no sum
	Solved      *Solution        // shown with the report, which is of its value
	Costs       *operators.Range // that each cost of an event is in; nil: unknown
	Input       Partitions       // that streams are of
	After       uint64           // events of a cell, at which ratios are shown beside powers of ten; 0 for none

	only bool // no mechanism but the configured one
}

// Report is the object that `oriel plan --json` prints. Durations are null without a rate.
type Report struct {
	Setting    Setting     `json:"setting"`
	Optimum    Optimum     `json:"optimum"`
	Ages       []Age       `json:"ages"`
	Mechanisms []Mechanism `json:"mechanisms"` // the configured one first, then by error; once-* last
	LeftOut    []Omitted   `json:"left_out"`
	Advice     *Advice     `json:"advice"` // public settings for the configured mechanism; null where there is none
	Warnings   []string    `json:"warnings"`
	Band       *Band       `json:"band,omitempty"`       // of an operator whose decisions have a band around predictions
	Numbers    *Numbers    `json:"numbers,omitempty"`    // of an operator whose decisions are numbers of known noise
	Streams    *Streams    `json:"streams,omitempty"`    // of an input of several partitions
	Ceiling    *Ceiling    `json:"one_stream,omitempty"` // with a rate, of an operator that was measured
	Solved     *Solution   `json:"solved,omitempty"`     // the setting that was solved for; the rest is at this solution

	late  uint64 // Published.Late
	fixed bool   // Published.Fixed
}

// Setting is the configured setting.
type Setting struct {
	Mechanism        string  `json:"mechanism"`
	Window           uint64  `json:"window_steps"`  // 0: no window, the claim holds for ever
	Horizon          uint64  `json:"horizon_steps"` // the stream ends there, and the claim is one for its whole life; 0: no end
	WindowSeconds    Number  `json:"window_seconds"`
	Memory           uint64  `json:"memory_steps"` // H: sums forget, and the claim holds for ever; 0: nothing is forgotten
	MemorySeconds    Number  `json:"memory_seconds"`
	Batch            uint64  `json:"batch_events"`
	Dimension        int     `json:"dimension"`
	Epsilon          float64 `json:"epsilon"`
	Delta            float64 `json:"delta"`
	Adjacency        string  `json:"adjacency"`
	Unit             string  `json:"unit"`
	Separation       uint64  `json:"separation_steps"`            // between two events of a user; 0 at event level
	UserWindow       uint64  `json:"user_window_steps,omitempty"` // with a memory: a user's events among any so many are protected together
	Clip             float64 `json:"clip"`
	Sensitivity      float64 `json:"sensitivity"`                // Δ: how far one exchange moves the sum of one step, loss units
	Rule             string  `json:"sensitivity_rule,omitempty"` // what Δ follows from
	Steps            string  `json:"steps_rule,omitempty"`       // how far a decision moves in a step
	Costs            *Costs  `json:"costs,omitempty"`            // what becomes of vectors of costs before they are clipped
	LatticeUnits     int64   `json:"sensitivity_lattice_units"`  // Δ, exactly
	LatticeUnit      float64 `json:"lattice_unit"`               // q, loss units
	Radius           Number  `json:"radius"`                     // of the decisions' set; null when it is not known what noise becomes there
	EventsPerSecond  Number  `json:"events_per_second"`
	SealedStateBytes int     `json:"sealed_state_bytes"` // of a stream, operator and users included
	DecisionBytes    Number  `json:"decision_bytes"`     // value of a decision, mean; null where none was made to measure
	EventBytes       Number  `json:"decision_bytes_an_event"`
	DayBytes         Number  `json:"decision_bytes_a_day"`            // of one stream; null without a rate
	Draws            bool    `json:"draws,omitempty"`                 // decisions hold draws
	LivesEpsilon     float64 `json:"epsilon_of_both_lives,omitempty"` // with ORIEL_AFTER, of a unit whose step both release
	DrawsPure        float64 `json:"draws_pure,omitempty"`            // ε of draws, of a stream that releases no sum
	DrawsRho         float64 `json:"draws_rho,omitempty"`             // ρ of such draws

	terms protection.Terms
}

// Optimum is the least error of any Gaussian mechanism for the window and the budget (mechanisms/blt, PROOF.md, Theorem
// 2), or for the memory in the long run (mechanisms/decay, PROOF.md, Theorem 2).
type Optimum struct {
	Factor        Number `json:"variance_factor"` // S_W², or for sums that forget ((2/π)K(γ))², in units of (Δ/µ)²
	Mu            Number `json:"mu"`              // of the budget; null when δ is 0
	RMSCoordinate Number `json:"rms_coordinate"`  // S_W·Δ/µ, loss units
	RMSVector     Number `json:"rms_vector"`
}

// Age is an age of an event: the number of steps since the event, after which releases no longer count.
type Age struct {
	Windows uint64 `json:"windows"` // 0 when not a number of whole windows
	Steps   uint64 `json:"steps"`
	Seconds Number `json:"seconds"`

	name string // such as "10 W"
}

// Mechanism is one row of every table. Losses are rounded up.
type Mechanism struct {
	Name            string          `json:"name"`
	Configured      bool            `json:"configured"`
	Note            string          `json:"note"`
	Window          uint64          `json:"window_steps"`
	Memory          uint64          `json:"memory_steps"`
	Poles           int             `json:"poles"` // of blt, else 0
	NoiseScale      float64         `json:"noise_scale"`
	RMSCoordinate   float64         `json:"rms_coordinate"`       // of a release, mean over steps, loss units
	WorstCoordinate float64         `json:"worst_rms_coordinate"` // at the worst step
	RMSVector       float64         `json:"rms_vector"`
	WorstVector     float64         `json:"worst_rms_vector"`
	OverOptimum     Number          `json:"variance_over_optimum"` // null for pure ε
	Mu              Number          `json:"mu"`                    // of one window; null for pure ε
	Epsilon         Number          `json:"epsilon"`               // of one window; null when none is proved
	EventEpsilon    Number          `json:"event_epsilon"`         // user level: of one event exchanged for another of its user; null at event level
	Delta           float64         `json:"delta"`
	Losses          []Loss          `json:"losses"`
	Groups          []Group         `json:"groups"`
	Decisions       []DecisionNoise `json:"decision_noise"`                 // after as many steps as ages have; empty where the update is no projection
	Settles         Number          `json:"steps_to_a_tenth_of_the_radius"` // until a decision's noise is below R/10; null without Decisions
	StateBytes      int             `json:"state_bytes"`
	MemoryBytes     uint64          `json:"memory_bytes"`
	Cost            Cost            `json:"cost_of_a_step"`
	Components      []Component     `json:"parts,omitempty"` // where the figures above, but for the noise scale, are over several

	machine *machine
}

// span returns over how many steps an event mostly loses privacy, or 0 where each step is released once.
func (s Setting) span() uint64 { return s.terms.Scope.Span() }

// users reports whether the unit has several events.
func (s Setting) users() bool {
	_, several := s.terms.Unit.EventSeparation()
	return several
}

// decays reports whether sums decay under a scope.
func decays(s protection.Scope) bool {
	_, decays := s.Memory()
	return decays
}

// called returns a mechanism's name. It adds the window where another row has the same mechanism with a memory.
func (m *Mechanism) called() string {
	if decays(m.machine.config.Scope) {
		return m.Name + " for life"
	}
	return m.Name
}

// Loss is ε at an age.
type Loss struct {
	Steps   uint64 `json:"age_steps"`
	Epsilon Number `json:"epsilon"`
	All     Number `json:"epsilon_all_events"` // user level: of all of a user's events over so many steps; null at event level
}

// Group is ε of one window when k events are exchanged together.
type Group struct {
	Size    uint64 `json:"size"`
	Epsilon Number `json:"epsilon"`
}

// Omitted is a mechanism that does not fit the setting.
type Omitted struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}
