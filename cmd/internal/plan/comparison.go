package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
	"oriel/mechanisms/protection"
)

// Comparison compares the configured mechanism at several ε and windows.
type Comparison struct {
	Mechanism string  `json:"mechanism"`
	Delta     float64 `json:"delta"`
	Rows      []Point `json:"rows"` // a row for each window and ε, in the order given
}

// Point is one row of a comparison. Losses and ratios are rounded up when printed.
type Point struct {
	Epsilon       float64       `json:"epsilon"`
	Window        uint64        `json:"window_steps"`
	WindowSeconds digits.Number `json:"window_seconds"`
	RMSCoordinate float64       `json:"rms_coordinate"` // root mean square error of a coordinate of a release, loss units
	RMSVector     float64       `json:"rms_vector"`
	OverOptimum   digits.Number `json:"variance_over_optimum"`
	Ten           digits.Number `json:"epsilon_at_10_windows"`
	Hundred       digits.Number `json:"epsilon_at_100_windows"`
	// number of steps until a decision's noise is below R/10; null if unknown
	Settles digits.Number `json:"steps_to_a_tenth_of_the_radius"`
	// half-width of a count's 95 % interval, if decisions are numbers
	Count float64 `json:"count_half_width,omitempty"`
}

// Compare computes a report's main figures for each window and ε. It fails if no plan fits one of these pairs.
func Compare(in Input, epsilons []float64, windows []uint64) (*Comparison, error) {
	c := &Comparison{Mechanism: in.Configured.Name, Delta: in.Configured.Budget.Delta}
	in.only, in.Measure, in.Age = true, 0, 0
	for _, w := range windows {
		for _, e := range epsilons {
			at := in
			at.Configured.Scope, at.Configured.Budget.Epsilon = protection.Window{Steps: w}, e
			r, err := New(at)
			if err != nil {
				return nil, fmt.Errorf("epsilon %g, window %d: %w", e, w, err)
			}
			m, counts := &r.Mechanisms[0], 0.0
			if r.Numbers != nil {
				counts = float64(r.Numbers.Views[0].Count.Half)
			}
			c.Rows = append(c.Rows, Point{
				Count:   counts,
				Epsilon: e, Window: w, WindowSeconds: r.Setting.WindowSeconds, RMSCoordinate: m.RMSCoordinate,
				RMSVector:   m.RMSVector,
				OverOptimum: m.OverOptimum, Ten: m.Losses[1].Epsilon, Hundred: m.Losses[2].Epsilon, Settles: m.Settles,
			})
		}
	}
	return c, nil
}

// variants returns the mechanisms that a report considers.
func (in Input) variants() []variant {
	// Mechanisms for sums cannot replace selections.
	if in.only || factsOf(in.Configured.Name).Structure == mechanisms.Selection {
		return []variant{{name: in.Configured.Name}}
	}
	var all []variant
	takes := in.Operator.Describe(in.Configured).Mechanisms
	names := mechanisms.Names()
	if !slices.Contains(names, in.Configured.Name) { // a mechanism of a paper, which Names omits
		names = append(names, in.Configured.Name)
	}
	for _, name := range names {
		if takes != nil && !slices.Contains(takes, name) {
			continue
		}
		all = append(all, variant{name: name})
		if _, decays := in.Configured.Scope.Memory(); decays && name == in.Configured.Name {
			all = append(all, variant{name: name, windowed: true})
		}
	}
	return all
}

// variant is a mechanism in a report. A configured mechanism with decaying sums appears a second time, with a window.
type variant struct {
	name     string
	windowed bool
}

// configured reports whether a variant is the configured mechanism.
func (in Input) configured(v variant) bool { return v.name == in.Configured.Name && !v.windowed }

// numbers reports whether decisions are numbers.
func (c *Comparison) numbers() bool { return len(c.Rows) > 0 && c.Rows[0].Count > 0 }

// Print prints the comparison as readable text.
func (c *Comparison) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at δ = %g\n\n", c.Mechanism, c.Delta)
	g := &grid{}
	first, second := []string{"", "", ""}, []string{"ε", "W", "time"}
	settle := slices.ContainsFunc(c.Rows, func(p Point) bool { return p.Settles.Known() })
	if c.numbers() {
		first, second = append(first, ""), append(second, "count")
	} else {
		first, second = append(first, "rms of a", "rms of the"), append(second, "coordinate", "vector")
	}
	first, second = append(first, "variance over", "ε at", "ε at"), append(second, "the optimum", "10 W", "100 W")
	if settle {
		first, second = append(first, "decision's noise"), append(second, "below R/10 after")
	}
	g.add(first...)
	g.add(second...)
	for _, p := range c.Rows {
		time, settles := "–", "–"
		if p.WindowSeconds.Known() {
			time = digits.Duration(float64(p.WindowSeconds))
		}
		if p.Settles.Known() {
			settles = digits.Four(p.Settles) + " steps"
		}
		row := []string{fmt.Sprintf("%g", p.Epsilon), digits.Count(p.Window), time}
		if c.numbers() {
			row = append(row, plusMinus(digits.Number(p.Count)))
		} else {
			row = append(row, digits.Four(p.RMSCoordinate), digits.Four(p.RMSVector))
		}
		row = append(row, digits.Upper(p.OverOptimum), digits.Upper(p.Ten), digits.Upper(p.Hundred))
		if settle {
			row = append(row, settles)
		}
		g.add(row...)
	}
	_ = g.print(&b)
	errors := "Errors are of the sum, loss units."
	if c.numbers() {
		errors = "Counts are within ± at 95 %, from the noise of privacy alone."
	}
	b.WriteString("\n" + errors + " Losses and ratios are rounded up.\n")
	_, err := io.WriteString(out, b.String())
	return err
}
