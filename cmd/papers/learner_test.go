package papers

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
)

// learner plays points and learns from losses.
type learner interface {
	Point() []float64 // valid until the next Step
	Step(f Loss)
}

// keyOf returns the key of a run's noise. Anyone can compute it, so it hides nothing.
func keyOf(experiment string, c Cell) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "oriel reproduce, %s, row %d, column %d, seed %d", experiment, c.Row, c.Column,
		c.Seed))
}

// configured is an operator that is opened as `oriel run` opens it. Its decisions have one number for each coordinate.
type configured struct {
	machine   *operators.Counted
	point     []float64
	gradient  []float64
	convexity float64
	records   int64
	decisions []operators.Decision
}

// newConfigured opens the operator of a settings list. If the stream has targets, the operator's events are gradients
// at its own decision, because a linear loss takes gradients.
func newConfigured(t Task, list []string, key [32]byte) (*configured, error) {
	machine, operator, err := open(list, key)
	if err != nil {
		return nil, err
	}
	return &configured{
		machine: machine, convexity: t.Convexity, point: slices.Clone(operators.ScoreOf(operator).Start),
		gradient: make([]float64, t.Set.Dimension),
	}, nil
}

// cocoSettings returns the settings of a task and a method.
func cocoSettings(t Task, environ []string) []string {
	return slices.Concat([]string{"ORIEL_OPERATOR=coco"}, t.Settings, environ)
}

// open opens the machine of a settings list.
func open(list []string, key [32]byte) (*operators.Counted, operators.Operator, error) {
	stream, operator, public, err := openStream(list, key)
	if err != nil {
		return nil, nil, err
	}
	machine, err := operator.Open(public, stream)
	if err != nil {
		return nil, nil, err
	}
	return operators.ByCount(machine), operator, nil
}

// openStream opens the stream of a settings list, and returns it with the operator and its public parameters.
func openStream(list []string, key [32]byte) (*mechanisms.Stream, operators.Operator, []byte, error) {
	c, err := calibrate(list)
	if err != nil {
		return nil, nil, nil, err
	}
	stream, err := mechanisms.Open(c.mechanism, c.private, key)
	return stream, c.operator, c.public, err
}

// calibrated is what an opened settings list has that does not depend on the key, so that seeds share it.
type calibrated struct {
	mechanism mechanisms.Config
	operator  operators.Operator
	public    []byte
	private   mechanisms.Calibration
}

// allCalibrated caches the calibrations of this process, by the lines of their settings lists. Cached values are never
// modified.
var allCalibrated sync.Map

func calibrate(list []string) (calibrated, error) {
	lines := strings.Join(list, "\n")
	if known, ok := allCalibrated.Load(lines); ok {
		return known.(calibrated), nil
	}
	if times := printedNoise[list[len(list)-1]]; times != nil {
		var err error
		if list, err = asPrinted(list[:len(list)-1], times); err != nil {
			return calibrated{}, err
		}
	}
	s, err := settings.LoadOf(Operators, list, settings.Operator)
	if err != nil {
		return calibrated{}, err
	}
	learner := s.Learner()
	c := calibrated{mechanism: learner.Mechanism(), operator: learner.Operator()}
	if c.public, err = c.operator.Params(c.mechanism); err != nil {
		return calibrated{}, err
	}
	if c.private, err = mechanisms.Calibrate(c.mechanism); err != nil {
		return calibrated{}, err
	}
	allCalibrated.Store(lines, c)
	return c, nil
}

// Point returns the newest decision.
func (l *configured) Point() []float64 { return l.point }

// Step passes a loss to the operator, in the form of its events.
func (l *configured) Step(f Loss) {
	e := event.Event{Vector: event.Vector{Values: f.Features}, Label: f.Label, Weight: 1}
	if f.Features == nil {
		f.Gradient(l.gradient, l.point, l.convexity)
		e = event.Event{Vector: event.Vector{Values: l.gradient}, Weight: 1}
	}
	l.records++
	r := operators.Record{Identity: noise.Identity{Offset: l.records}, Event: e}
	l.decisions = l.machine.Add(l.decisions[:0], r)
	for _, d := range l.decisions {
		copy(l.point, d.Point)
	}
}

// dampedBy bounds the average distance by which noise alone moves a decision before the first event, as a share of the
// set's diameter.
const dampedBy = 0.1

// damping returns the public default of λ₀ as a setting: E|ν|/(dampedBy·D) = 10·E|ν|/D. Here D is the diameter of the
// set, and the noise ν of the worst release has E|ν| ≤ √n times its deviation in a coordinate.
func damping(t Task, environ []string) (string, error) {
	stream, _, _, err := openStream(cocoSettings(t, environ), [32]byte{})
	if err != nil {
		return "", err
	}
	deviation, err := stream.Deviation(0, 0)
	if err != nil {
		return "", err
	}
	set, _, err := t.Open(1)
	if err != nil {
		return "", err
	}
	noise := deviation.Worst() * math.Sqrt(float64(t.Set.Dimension))
	return "ORIEL_START_REGULARIZER=" + number(noise/(dampedBy*set.Diameter())), nil
}

// number formats a float for settings.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
