package decisions

import (
	"fmt"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
	"oriel/operators/description"
)

// Band is the cost of a band around predictions, and the coverage that it guarantees.
type Band struct {
	Level  float64     `json:"level"`        // target share of events whose label is within the band
	Noise  float64     `json:"noise_factor"` // factor by which the band increases the error of gradients
	Errors []BandError `json:"errors"`
}

// BandError is the largest difference between the level and the share of covered events, after this number of events.
type BandError struct {
	Events   uint64  `json:"events"`
	MaxError float64 `json:"error_most"`
}

// bandEvents are the numbers of events for which the report has the bound.
var bandEvents = []uint64{1e4, 1e5, 1e6, 1e7, 1e8}

// BandOf returns the Band of a mechanism, or nil if there is none.
func BandOf(m *opened.Mechanism, b *description.Band) (*Band, error) {
	if b == nil {
		return nil, nil
	}
	most, err := b.MaxError(m.Opened)
	if err != nil {
		return nil, err
	}
	out := &Band{Level: b.Level, Noise: b.Noise}
	for _, events := range bandEvents {
		steps := min(max(1, events/m.Config.Batch), m.Config.Scope.End())
		if n := steps * m.Config.Batch; len(out.Errors) == 0 || n > out.Errors[len(out.Errors)-1].Events {
			out.Errors = append(out.Errors, BandError{n, most(steps)})
		}
	}
	return out, nil
}

// Title returns the title of the table of Rows.
func (b *Band) Title() string {
	return fmt.Sprintf("A band for %[1]g of all events: gradients have %.4[2]g times the noise of gradients without a band.\n"+
		"Distance of the share within the band from %[1]g, at most: a bound for every sequence of events without null events, with probability 0.95",
		b.Level, b.Noise)
}

// Rows returns the errors as a table.
func (b *Band) Rows() *digits.Table {
	g := &digits.Table{}
	head, row := []string{"after"}, []string{"at most"}
	for _, e := range b.Errors {
		head, row = append(head, digits.Count(e.Events)+" events"), append(row, digits.Four(digits.Number(e.MaxError)))
	}
	g.Add(head...)
	g.Add(row...)
	return g
}
