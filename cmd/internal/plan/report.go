package plan

import (
	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/clock"
	"oriel/cmd/internal/plan/decisions"
	"oriel/cmd/internal/plan/names"
	"oriel/cmd/internal/plan/opened"
	"oriel/cmd/internal/plan/rates"
	"oriel/cmd/internal/plan/statistics"
	"oriel/cmd/internal/plan/volume"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

// Report is the object that `oriel plan --json` prints. Durations are null if the rate is unknown.
type Report struct {
	Setting    Setting             `json:"setting"`
	Optimum    Optimum             `json:"optimum"`
	Ages       []Age               `json:"ages"`
	Mechanisms []Mechanism         `json:"mechanisms"` // the configured mechanism first, then by error; once-* last
	LeftOut    []Omitted           `json:"left_out"`
	Advice     *decisions.Advice   `json:"advice"` // advised public settings for the configured mechanism; null: none
	Warnings   []string            `json:"warnings"`
	Band       *decisions.Band     `json:"band,omitempty"`         // omitted unless decisions have a band around predictions
	Numbers    *statistics.Numbers `json:"numbers,omitempty"`      // omitted unless decisions are numbers with known noise
	Names      *names.Report       `json:"names,omitempty"`        // omitted unless the stream counts names
	Clock      *clock.Report       `json:"by_the_clock,omitempty"` // omitted unless steps end by the clock
	Streams    *rates.Streams      `json:"streams,omitempty"`      // omitted unless the input has several partitions
	Ceiling    *rates.Ceiling      `json:"one_stream,omitempty"`   // omitted unless the rate is known and the operator was measured

	stream volume.Opened
}

// Setting is the configured setting.
type Setting struct {
	Mechanism string `json:"mechanism"`
	Window    uint64 `json:"window_steps"` // 0: no window; the claim holds for ever
	// the stream ends after this many steps, and the claim covers its whole life; 0: no end
	Horizon       uint64        `json:"horizon_steps"`
	WindowSeconds digits.Number `json:"window_seconds"`
	Memory        uint64        `json:"memory_steps"` // H: sums decay, and the claim holds for ever; 0: no decay
	MemorySeconds digits.Number `json:"memory_seconds"`
	Batch         uint64        `json:"batch_events"` // 0: steps end by the clock
	StepSeconds   int64         `json:"step_seconds,omitempty"`
	Dimension     int           `json:"dimension"`
	Epsilon       float64       `json:"epsilon"`
	Delta         float64       `json:"delta"`
	Adjacency     string        `json:"adjacency"`
	Unit          string        `json:"unit"`
	Separation    uint64        `json:"separation_steps"` // fewest steps between two events of a user; 0 at event level
	// user window: a user's events within this many steps are protected together; only with decaying sums
	UserWindow uint64  `json:"user_window_steps,omitempty"`
	UserPeriod uint64  `json:"user_period_steps,omitempty"`   // by the clock: a user's events of a period are protected together
	UserEvents uint64  `json:"user_period_records,omitempty"` // records of a user that count in a period
	UserValues uint64  `json:"user_period_values,omitempty"`  // or different values, such as cells
	Clip       float64 `json:"clip"`
	// Δ: the largest distance by which one exchange moves the sum of one step, loss units
	Sensitivity     float64          `json:"sensitivity"`
	Rule            string           `json:"sensitivity_rule,omitempty"` // derivation of Δ
	Steps           string           `json:"steps_rule,omitempty"`       // bound on the change of a decision in a step
	Costs           *decisions.Costs `json:"costs,omitempty"`            // projection of cost vectors before the clip
	LatticeUnits    int64            `json:"sensitivity_lattice_units"`  // Δ in lattice units, exactly
	LatticeUnit     float64          `json:"lattice_unit"`               // q: size of a lattice unit, loss units
	Radius          digits.Number    `json:"radius"`                     // radius of the decision set; null if the effect of noise on decisions is unknown
	EventsPerSecond digits.Number    `json:"events_per_second"`
	// size of the sealed state of a stream with operator and users, bytes
	SealedStateBytes int           `json:"sealed_state_bytes"`
	DecisionBytes    digits.Number `json:"decision_bytes"` // mean size of a decision's value; null if none was measured
	EventBytes       digits.Number `json:"decision_bytes_an_event"`
	DayBytes         digits.Number `json:"decision_bytes_a_day"` // bytes of one stream's decisions per day; null without a rate
	Draws            bool          `json:"draws,omitempty"`      // decisions contain draws
	DrawsPure        float64       `json:"draws_pure,omitempty"` // ε of all draws, if the stream releases no sum
	DrawsRho         float64       `json:"draws_rho,omitempty"`  // ρ of all draws (zCDP), if the stream releases no sum

	terms protection.Terms
}

// Optimum is the smallest error of any Gaussian mechanism for the window and the budget (mechanisms/blt, PROOF.md,
// Theorem 2), or for decaying sums in the long run (mechanisms/decay, PROOF.md, Theorem 2).
type Optimum struct {
	Factor        digits.Number `json:"variance_factor"` // S_W², or ((2/π)K(γ))² for decaying sums, in units of (Δ/µ)²
	Mu            digits.Number `json:"mu"`              // µ of the budget; null if δ is 0
	RMSCoordinate digits.Number `json:"rms_coordinate"`  // S_W·Δ/µ, loss units
	RMSVector     digits.Number `json:"rms_vector"`
}

// Age is an age of an event, in steps. The privacy loss at an age counts the releases of this many steps, from the
// event's own step on.
type Age struct {
	Windows uint64        `json:"windows"` // the age in windows; 0 if it is not a whole number of windows
	Steps   uint64        `json:"steps"`
	Seconds digits.Number `json:"seconds"`

	name string // name of the age, for example "10 W"
}

// Mechanism is one row of every table. Losses are rounded up.
type Mechanism struct {
	Name       string  `json:"name"`
	Configured bool    `json:"configured"`
	Note       string  `json:"note"`
	Window     uint64  `json:"window_steps"`
	Memory     uint64  `json:"memory_steps"`
	Poles      int     `json:"poles"` // number of poles of blt; otherwise 0
	NoiseScale float64 `json:"noise_scale"`
	// root mean square error of a coordinate of a release over all steps, loss units
	RMSCoordinate float64 `json:"rms_coordinate"`
	// root mean square error at the worst step, loss units
	WorstCoordinate float64       `json:"worst_rms_coordinate"`
	RMSVector       float64       `json:"rms_vector"`
	WorstVector     float64       `json:"worst_rms_vector"`
	OverOptimum     digits.Number `json:"variance_over_optimum"` // null for pure ε
	Mu              digits.Number `json:"mu"`                    // µ of one window; null for pure ε
	Epsilon         digits.Number `json:"epsilon"`               // ε of one window; null if no finite ε is proved
	EventEpsilon    digits.Number `json:"event_epsilon"`         // ε if one event of a user is exchanged; null at event level
	Delta           float64       `json:"delta"`
	Losses          []Loss        `json:"losses"`
	Groups          []Group       `json:"groups"`
	// noise of decisions after some numbers of steps; empty if the update is not a projection
	Decisions []decisions.Noise `json:"decision_noise"`
	// number of steps until a decision's noise is below R/10; null without Decisions
	Settles     digits.Number `json:"steps_to_a_tenth_of_the_radius"`
	StateBytes  int           `json:"state_bytes"` // state of a stream of one partition
	MemoryBytes uint64        `json:"memory_bytes"`
	Cost        opened.Cost   `json:"cost_of_a_step"`
	// by component, if there are several; all figures above except NoiseScale cover all components
	Components []opened.Component `json:"parts,omitempty"`

	opened *opened.Mechanism
}

// span returns the number of steps over which an event incurs most of its privacy loss. It is 0 for per-step releases.
func (s Setting) span() uint64 { return s.terms.Scope.Span() }

// users reports whether the unit has several events.
func (s Setting) users() bool {
	_, several := s.terms.Unit.EventSeparation()
	return several
}

// userWindow describes in words the window within which a user's events are protected.
func (s Setting) userWindow() string {
	switch unit := s.terms.Unit.Figures(); {
	case unit.Among > 0:
		return "any " + digits.Counted(unit.Among, "step")
	case unit.Period > 0:
		return "one period of " + digits.Counted(unit.Period, "step")
	}
	return "one window"
}

// change says in words how neighbouring streams differ.
func (s Setting) change() string {
	if s.terms.Unit.Adjacency() == dp.AddRemove {
		return "present or absent"
	}
	return "exchanged"
}

// decays reports whether sums decay under a scope.
func decays(s protection.Scope) bool {
	_, decays := s.Memory()
	return decays
}

// called returns a mechanism's name. It adds the window if another row has the same mechanism with decaying sums.
func (m Mechanism) called() string {
	if decays(m.opened.Config.Scope) {
		return m.Name + " for life"
	}
	return m.Name
}

// Loss is the privacy loss ε at an age.
type Loss struct {
	Steps   uint64        `json:"age_steps"`
	Epsilon digits.Number `json:"epsilon"`
	All     digits.Number `json:"epsilon_all_events"` // ε of all events of a user within this many steps; null at event level
}

// Group is ε of one window when k events are exchanged together.
type Group struct {
	Size    uint64        `json:"size"`
	Epsilon digits.Number `json:"epsilon"`
}

// Omitted is a mechanism that does not fit the setting.
type Omitted struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}
