package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/opened"
)

// label returns the first column of the row, which marks the configured mechanism.
func (m Mechanism) label() string {
	mark := "  "
	if m.Configured {
		mark = "* "
	}
	if m.Poles > 0 {
		return mark + fmt.Sprintf("%s, %d poles", m.called(), m.Poles)
	}
	if m.opened.PerStep() {
		return mark + m.Name + ", one step"
	}
	return mark + m.Name
}

// column is a column with a row for each mechanism.
type column = digits.Column[Mechanism]

// table returns a table whose first column has the labels of mechanisms.
func (r *Report) table(columns ...column) *digits.Table {
	return digits.TableOf(r.Mechanisms, append([]column{digits.Col("", Mechanism.label)}, columns...)...)
}

func (r *Report) errorRows() *digits.Table {
	g := r.table(
		digits.Col("noise\nscale", func(m Mechanism) string {
			if len(m.Components) > 1 {
				return digits.Four(digits.None) // each component has its own scale
			}
			return digits.Four(m.NoiseScale)
		}),
		digits.Col("rms of a\ncoordinate", func(m Mechanism) string { return digits.Four(m.RMSCoordinate) }),
		digits.Col("at the\nworst step", func(m Mechanism) string { return digits.Four(m.WorstCoordinate) }),
		digits.Col("rms of the\nvector", func(m Mechanism) string { return digits.Four(m.RMSVector) }),
		digits.Col("variance over\nthe optimum", func(m Mechanism) string { return digits.Upper(m.OverOptimum) }),
	)
	if r.Optimum.RMSCoordinate.Known() {
		g.Add("  optimum", "", digits.Four(r.Optimum.RMSCoordinate), "", digits.Four(r.Optimum.RMSVector), "1")
	}
	return g
}

func (r *Report) ageRows(loss func(Loss) digits.Number) *digits.Table {
	columns := []column{digits.Col("µ", func(m Mechanism) string { return digits.Upper(m.Mu) })}
	for i, age := range r.Ages {
		head := age.name
		if r.Setting.span() > 0 {
			head += "\n" + digits.Count(age.Steps)
			if age.Seconds.Known() {
				head += "\n" + digits.Duration(float64(age.Seconds))
			}
		}
		columns = append(columns, digits.Col(head, func(m Mechanism) string { return digits.Upper(loss(m.Losses[i])) }))
	}
	return r.table(columns...)
}

func (r *Report) groupRows() *digits.Table {
	columns := []column{
		digits.Col("one event", func(m Mechanism) string { return digits.Upper(m.EventEpsilon) }).If(r.Setting.users()),
		digits.Col("k = 1", func(m Mechanism) string { return digits.Upper(m.Epsilon) }),
	}
	for i, k := range groups {
		columns = append(columns, digits.Col(strconv.FormatUint(k, 10), func(m Mechanism) string {
			return digits.Upper(m.Groups[i].Epsilon)
		}))
	}
	return r.table(columns...)
}

func (r *Report) costRows() *digits.Table {
	return r.table(
		digits.Col("state", func(m Mechanism) string { return digits.Bytes(uint64(m.StateBytes)) }),
		digits.Col("memory", func(m Mechanism) string { return digits.Bytes(m.MemoryBytes) }),
		digits.Col("noise\nvectors", func(m Mechanism) string { return digits.Four(m.Cost.Vectors) }),
		digits.Col("at most", func(m Mechanism) string { return strconv.FormatUint(m.Cost.WorstVectors, 10) }),
		digits.Col("SHA-256\nblocks", func(m Mechanism) string { return digits.Four(m.Cost.HashBlocks) }),
		digits.Col("AES\nblocks", func(m Mechanism) string { return digits.Four(m.Cost.CipherBlocks) }),
		digits.Col("128-bit\nproducts", func(m Mechanism) string { return strconv.FormatUint(m.Cost.Products, 10) }),
	)
}

// decisionTitle returns the table's title. It names the radius if decisions are in a set that has one.
func (r *Report) decisionTitle() string {
	const title = "Noise of the decision after T steps, rms of the vector"
	if !r.Setting.Radius.Known() {
		return title
	}
	return fmt.Sprintf(title+" before projection; the radius R is %g", r.Setting.Radius)
}

func (r *Report) decisionRows() *digits.Table {
	columns := []column{
		digits.Col("", Mechanism.label),
		digits.Col("below R/10\nafter", r.settles).If(r.Setting.Radius.Known()),
	}
	for i, age := range r.Ages {
		columns = append(columns, digits.Col("T =\n"+digits.Count(age.Steps), func(m Mechanism) string {
			return digits.Four(m.Decisions[i].RMSVector)
		}))
	}
	rows := slices.DeleteFunc(slices.Clone(r.Mechanisms), func(m Mechanism) bool { return len(m.Decisions) == 0 })
	return digits.TableOf(rows, columns...)
}

// settles says when the noise of decisions falls below a tenth of the radius.
func (r *Report) settles(m Mechanism) string {
	if math.IsInf(float64(m.Settles), 1) {
		return "stays above"
	}
	after := digits.Four(m.Settles) + " steps"
	if step := r.stepSeconds(); step > 0 {
		after += ", " + digits.Duration(float64(m.Settles)*step)
	}
	return after
}

// componentRows returns the rows of the configured mechanism's components.
func (r *Report) componentRows() *digits.Table {
	type row = opened.Component
	four := func(head string, of func(row) float64) digits.Column[row] {
		return digits.Col(head, func(p row) string { return digits.Four(of(p)) })
	}
	parts := slices.Clone(r.Mechanisms[0].Components)
	for i := range parts {
		parts[i].Name = cmp.Or(parts[i].Name, strconv.Itoa(i))
	}
	return digits.TableOf(parts,
		digits.Col("component", func(p row) string { return p.Name }),
		digits.Col("coordinates", func(p row) string { return strconv.Itoa(p.Size) }),
		four("Δ", func(p row) float64 { return p.Sensitivity }),
		four("noise", func(p row) float64 { return p.NoiseScale }),
		four("coordinate", func(p row) float64 { return p.RMSCoordinate }),
		four("worst", func(p row) float64 { return p.WorstCoordinate }),
		four("vector", func(p row) float64 { return p.RMSVector }),
		four("worst", func(p row) float64 { return p.WorstVector }),
	)
}
