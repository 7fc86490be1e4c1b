package ridge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/operators/loss"
	"oriel/operators/moments"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// operator implements operators.Operator.
type operator struct {
	rows         moments.Rows
	innovation   bool
	features     float64 // X, the norm by which features are divided
	middle, half float64 // middle of the label's range, and half its width
	residual     float64 // C, the clip of residuals; 0: the update is moments
	gain         float64 // α, the weight of second moments
	start        float64 // λ_0, the initial regulariser
	convexity    float64 // µ, the growth of the regulariser with each event
	shift        float64 // f, the shift in units of Edge, the edge of the noise's spectrum
	raise        bool    // small eigenvalues are raised, and the matrix is not shifted
	maxWeights   float64 // largest norm of weights, in units of half the label's range
	every        uint64
	batch        uint64
	terms        protection.Terms // who is protected, and for how long
}

var (
	_ operators.Scorer   = operator{}
	_ operators.Thinning = operator{}
	_ operators.Audited  = operator{}
)

// members are the accuracy of the weights, the constant that a prediction adds to ⟨x, weights⟩, and how the equations
// were solved.
type members struct {
	operators.Members
	deviation                  operators.NumbersMember
	residual, shift, doublings operators.NumberMember
}

func (c operator) members() *members {
	deviation := "Standard deviation of the noise of privacy in each weight, to the first order."
	residual := "Root of the mean squared residual of the weights, as the released second moments say; 0 where noise makes it negative."
	if c.innovation {
		deviation = "Standard deviation of the noise of privacy that the last release puts into each weight, without the part that feedback takes back."
		residual = "Root of the mean squared clipped residual, as released; 0 where noise makes it negative."
	}
	m := &members{}
	m.deviation = m.Numbers("deviation", deviation, c.rows.Features)
	m.Constant("offset", "A prediction is this and the inner product of features and decision.", c.middle)
	m.residual = m.Number("residual_deviation", residual)
	m.shift = m.Number("shift", "The number added to the diagonal of the released second moments of features of norm 1, or the "+
		"least eigenvalue that they were raised to.")
	m.doublings = m.Number("doublings", "How often the shift has had to be doubled, in all decisions so far: 0 when it is large enough.")
	m.Lifetime(c.terms)
	return m
}

func (c operator) Extras() []decision.Extra { return c.members().Extras() }

// component returns the component of a record's contribution.
func (c operator) component() contribution.Component {
	p := c.rows.Component()
	p.Name = "moments"
	return p
}

// Require sets the contribution of a row.
func (c operator) Require(m *mechanisms.Config, params []byte) error {
	m.Contribution = contribution.Contribution{Components: []contribution.Component{c.component()}}
	return checkParams(params, params == nil)
}

// paramsVersion is the only content of params, because all numbers come from settings and from the calibration.
const paramsVersion = 1

var errParams = errors.New("ridge: params: not the one byte that this software knows")

func checkParams(params []byte, none bool) error {
	if none || slices.Equal(params, []byte{paramsVersion}) {
		return nil
	}
	return errParams
}

// Params freezes only the version.
func (c operator) Params(mechanisms.Config) ([]byte, error) { return []byte{paramsVersion}, nil }

func (c operator) Open(params []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	if err := checkParams(params, false); err != nil {
		return nil, err
	}
	return newMachine(c, sums)
}

// Describe describes the contribution of a row, and the noise that the released matrix contains when it is factorised.
func (c operator) Describe(m mechanisms.Config) description.Figures {
	s, shift := float64(c.rows.Label)/moments.MaxLabel, c.shift
	if c.raise {
		shift = 0 // with raised eigenvalues there is no shift
	}
	return description.Figures{
		Radius: float64(float64(c.maxWeights*c.half) / c.features),
		Distance: fmt.Sprintf(
			"second moments of rows (x; s·y), s = %.4g: an exchange moves them by 1 + s² = %.4g where Σ x·y alone would move by %.4g",
			s, 1+float64(s*s), float64(2*s)),
		Steps:      moments.DescribeNoise(m, c.rows.Features, shift),
		Mechanisms: []string{"blt", "tree-gaussian"},
	}
}

func (c operator) EmitAll() operators.Operator {
	c.every = 1
	return c
}

func (c operator) ReferenceModel(params []byte) (operators.ReferenceModel, error) {
	return newReference(c), checkParams(params, false)
}

// predict returns the prediction for an event from weights, clamped to the label's range.
func (c operator) predict(x []float64, e event.Event) float64 {
	p := c.middle + loss.Predict(x, e)
	if math.IsNaN(p) {
		return p
	}
	return max(c.middle-c.half, min(c.middle+c.half, p))
}

// Score returns how decisions are scored; the loss is half the squared error.
func (c operator) Score() *operators.Score {
	exact := c
	exact.shift = 0
	return &operators.Score{
		Exact: exact, Predicts: operators.Mean, Start: make([]float64, c.rows.Features), Predict: c.predict, Offset: c.middle,
		Low: c.middle - c.half, High: c.middle + c.half,
		Loss: func(x []float64, e event.Event) float64 {
			off := c.predict(x, e) - e.Label
			return float64(float64(e.Weight*off)*off) / 2
		},
	}
}

// row writes z to dst of length d: the features divided by X, and shortened to norm 1 if they are longer. It returns
// false if the event is unusable.
func (c operator) row(dst []float64, e event.Event) bool {
	valid := e.Weight >= 0 && e.Weight <= math.MaxFloat64 && math.Abs(e.Label) <= math.MaxFloat64
	return valid && loss.Normalised(dst, e.Vector, c.features)
}
