package ridge

import (
	"math"

	"oriel/operators"
	"oriel/schemas"
)

// twin is the operators.Twin of a machine that publishes every decision.
type twin struct {
	configured
	decision []float64
}

func newTwin(c configured) *twin {
	return &twin{configured: c, decision: make([]float64, c.rows.Features)}
}

func (t *twin) Begin() { clear(t.decision) }

func (t *twin) Decided(decisions []operators.Decision) {
	for _, d := range decisions {
		copy(t.decision, d.Point)
	}
}

// Leaf writes the row feature by feature: z, drawn to norm 1, and what of the label is learned, not clamped.
func (t *twin) Leaf(dst []float64, r operators.Record) bool {
	d, e := t.rows.Features, r.Event
	if r.Null {
		return false
	}
	x := make([]float64, d)
	for k, value := range e.Vector.Values {
		at := k
		if e.Vector.Indices != nil {
			at = int(e.Vector.Indices[k])
		}
		x[at] = value
	}
	square, largest := 0.0, 0.0
	for _, value := range x {
		largest = max(largest, math.Abs(value))
	}
	for _, value := range x {
		if largest > 0 {
			square += float64(value / largest * (value / largest))
		}
	}
	length := max(t.features, float64(largest*math.Sqrt(square)))
	prediction := t.middle
	for i, value := range x {
		dst[i] = value / length
		prediction += float64(float64(dst[i]*t.decision[i]) * t.features)
	}
	dst[d] = (e.Label - t.middle) / t.half
	if t.innovation {
		dst[d] = (e.Label - prediction) / t.residual
	}
	dst[d] = max(-1, min(1, dst[d]))
	for i := range dst {
		dst[i] = float64(dst[i] * math.Sqrt(min(1, e.Weight)))
	}
	return true
}

// Direct has nothing to do: a canary's direction chooses among pairs.
func (t *twin) Direct([]float64) {}

// Canary returns two events whose rows are orthogonal and as long as rows can be, (z; s) and (z'; ±s) with ⟨z, z'⟩ =
// ∓s²: u gives z, the plane of z', and the sign. In one dimension z' = −z. Features, labels and weights are far beyond
// what they are clamped to.
func (t *twin) Canary(u []float64, factor float64) (with, without operators.Record) {
	d := t.rows.Features
	z, other := make([]float64, d), make([]float64, d)
	norm := 0.0
	for _, x := range u[:d] {
		norm += float64(x * x)
	}
	for i := range z {
		if z[i] = u[i] / math.Sqrt(norm); !(norm > 1e-18) {
			z[i] = 0
		}
	}
	if !(norm > 1e-18) {
		z[0] = 1
	}
	least := 0 // the axis that is least along z makes the plane
	for i := range z {
		if math.Abs(z[i]) < math.Abs(z[least]) {
			least = i
		}
	}
	s := float64(t.rows.Label) / 1024
	sign := 1.0
	if u[d] < 0 {
		sign = -1
	}
	cosine := float64(-sign * float64(s*s))
	across := math.Sqrt(max(0, 1-float64(z[least]*z[least])))
	for i := range other {
		axis := float64(-z[i] * z[least])
		if i == least {
			axis++
		}
		other[i] = float64(cosine * z[i])
		if across > 1e-9 {
			other[i] += float64(math.Sqrt(max(0, 1-float64(cosine*cosine))) * axis / across)
		}
	}
	if d == 1 {
		other[0], sign = -z[0], 1
	}
	return t.record(z, 1, factor), t.record(other, sign, factor)
}

// record is an event that says z and the end of the label's range on one side, far beyond.
func (t *twin) record(z []float64, side, factor float64) operators.Record {
	beyond := float64(operators.Beyond * factor)
	values := make([]float64, len(z))
	for i, x := range z {
		values[i] = float64(float64(x*t.features) * beyond)
	}
	// Beyond all that weights of their largest norm can explain.
	reach := float64((2 + t.most) * t.half * beyond * max(1, t.residual/t.half))
	return operators.Record{Event: schemas.Event{
		Vector: schemas.Vector{Values: values}, Label: t.middle + float64(side*reach), Weight: beyond,
	}}
}
