package linucb

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/mechanisms/lattice"
	"oriel/operators/loss"
	"oriel/operators/moments"
	"oriel/operators/setting"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// products holds public features φ of arms that share one weight vector. The features of a choice are z = x ⊗ φ, both
// scaled to norm at most 1, so that arms with similar features learn from each other. The zero value means that there
// are none.
type products struct {
	length int         // m, the number of features of an arm; 0: arms have no features
	norm   float64     // Φ, the largest norm of an arm's features
	rows   [][]float64 // features of each arm, divided by Φ
}

// productEntry reads name:number:number:…
func productEntry(text string) (canonical string, ok bool) {
	name, features, ok := parseProduct(text)
	for _, x := range features {
		name += ":" + strconv.FormatFloat(x, 'g', -1, 64)
	}
	return name, ok
}

func parseProduct(s string) (name string, features []float64, ok bool) {
	parts := strings.Split(s, ":")
	name, ok = armEntry(strings.TrimSpace(parts[0]))
	for _, part := range parts[1:] {
		x, err := text.ParseNumber(part)
		if err != nil || !(math.Abs(x) <= 1e12) {
			return "", nil, false
		}
		features = append(features, x)
	}
	return name, features, ok && name != "" && len(features) > 0
}

// readProducts reads the lines of a file, or of params, each in its canonical form.
func readProducts(lines []string) (arms []string, p products, ok bool) {
	for _, line := range lines {
		name, features, ok := parseProduct(line)
		if !ok || len(p.rows) > 0 && len(features) != p.length {
			return nil, products{}, false
		}
		arms, p.rows, p.length = append(arms, name), append(p.rows, features), len(features)
		p.norm = max(p.norm, lattice.Norm(features))
	}
	for _, row := range p.rows {
		for j := range row {
			row[j] /= p.norm
		}
	}
	return arms, p, p.norm > 0
}

// configureProducts sets the arms and their features from the lines of a file.
func (c *operator) configureProducts(v *setting.Values, lines []string) {
	v.Want("ARM_FEATURES", c.candidates == 0 && len(c.arms) == 0,
		"set, and so is ORIEL_CANDIDATES or ORIEL_ARMS: set only one of them, because each lists the actions that can be played")
	arms, p, ok := readProducts(lines)
	if !ok {
		v.Want("ARM_FEATURES", false, "not as many features of each arm, or none that is not 0")
		return
	}
	v.Want("ARM_FEATURES", len(arms) >= 2 && len(arms) <= maxArms, "%d arms: not 2 to %d", len(arms), maxArms)
	sorted := slices.Sorted(slices.Values(arms))
	v.Want("ARM_FEATURES", len(slices.Compact(sorted)) == len(arms), "a name is given twice")
	v.Want("ARM_FEATURES", c.rows.Features*p.length <= moments.MaxFeatures,
		"%d features of an arm times ORIEL_DIMENSION=%d is above %d", p.length, c.rows.Features, moments.MaxFeatures)
	c.arms, c.lines, c.products = arms, lines, p
	c.rows.Features = min(c.rows.Features*p.length, moments.MaxFeatures)
}

// dimension returns d, the dimension of a context or of a candidate's features.
func (c operator) dimension() int { return c.rows.Features / max(1, c.products.length) }

// product writes x ⊗ φ for an arm: for each feature of the context in turn, its products with all features of the arm.
func (c operator) product(dst []float64, v event.Vector, arm int) bool {
	d, m := c.dimension(), c.products.length
	if !loss.Normalised(dst[:d], v, c.features) {
		return false
	}
	for i := d - 1; i >= 0; i-- { // descending: product i does not overwrite features before i
		x := dst[i]
		for j, y := range c.products.rows[arm] {
			dst[i*m+j] = float64(x * y)
		}
	}
	return true
}

// unit returns the divisor of weights after which they apply to unscaled features.
func (c operator) unit() float64 {
	if c.products.length > 0 {
		return float64(c.features * c.products.norm)
	}
	return c.features
}
