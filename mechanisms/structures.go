package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/perstep"
	"oriel/mechanisms/windowtree"
)

// maxWindow is so small that block and position arithmetic of a tree cannot overflow.
const maxWindow = 1 << 62

// tree is the noise structure of the tree- mechanisms: noise at the nodes of a windowtree.
type tree struct {
	window uint64 // W, steps
}

func (t tree) problems(c Config, bad func(format string, args ...any)) {
	switch {
	case t.window == 0:
		bad("window 0: not a power of two")
	case t.window > maxWindow:
		bad("window %d: above 2^62", t.window)
	case t.window&(t.window-1) != 0:
		bad("window %d: not a power of two, the next is %d", t.window, uint64(1)<<bits.Len64(t.window))
	}
	noFilter(c, bad)
}

func (t tree) shape(p *Calibration, _ Config) (bits int, err error) {
	p.Levels = uint8(windowtree.Depth(t.window))
	return lattice.CoarseBits, nil
}

func (t tree) calibrate(x *calibratedComponent, p Calibration, c Config, kind definition) (float64, error) {
	x.scale = nodeScale(*x, kind.Law, t.exposure(c))
	return errorBound(*x, kind.Law, c.Failure, int(p.Levels)), nil
}

func (tree) check(p Calibration) error {
	if p.Levels < 1 || p.Levels > 63 {
		return fmt.Errorf("mechanisms: calibration: levels %d: not in [1, 63]", p.Levels)
	}
	return withoutFilter(p)
}

func (t tree) matches(p Calibration, _ Config) error {
	if h := windowtree.Depth(t.window); int(p.Levels) != h {
		return fmt.Errorf("mechanisms: calibration has %d levels, window %d has %d", p.Levels, t.window, h)
	}
	return nil
}

func (t tree) loss(x calibratedComponent, _ Calibration, c Config, kind definition) (float64, dp.Curve) {
	loss := nodeLoss(x, kind.Law, t.exposure(c))
	if kind.Law != Gaussian {
		return loss, nil
	}
	return loss, windowtree.Loss{
		Window: t.window, Separation: t.separation(c), Square: x.square.Lo, N: x.n, Scale: x.scale,
	}
}

func (t tree) sums(x calibratedComponent, _ Calibration, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := windowtree.New(t.window, x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// separation returns the separation of the unit's events. For a single event it is so large that a window has one
// event.
func (t tree) separation(c Config) uint64 {
	if separation, several := c.Unit.EventSeparation(); several {
		return separation
	}
	return t.window
}

// exposure returns h nodes with one event each for an event, or for a user the numbers of PROOF.md, Lemma 1.
func (t tree) exposure(c Config) exposure {
	total := dp.Float().SetUint64(windowtree.Events(t.window, t.separation(c)))
	return exposure{
		squares: dp.Float().SetInt(windowtree.Squares(t.window, t.separation(c))),
		total:   total.Mul(total, dp.Exact(float64(windowtree.Depth(t.window)))),
	}
}

func noFilter(c Config, bad func(format string, args ...any)) {
	if c.AgeWeight != 0 || c.Poles != 0 {
		bad("age weight %g, poles %d: %s has no filter", c.AgeWeight, c.Poles, c.Name)
	}
}

func withoutFilter(p Calibration) error {
	if p.Filter != (blt.Filter{}) || p.Decay != (decay.Filter{}) {
		return fmt.Errorf("mechanisms: calibration: %s has either levels or a filter", p.Name)
	}
	return nil
}

// perStep is the noise structure of the once- mechanisms: each step has noise of its own, like a tree of one node.
type perStep struct{}

func (perStep) problems(c Config, bad func(format string, args ...any)) {
	noFilter(c, bad)
}

func (perStep) shape(p *Calibration, _ Config) (bits int, err error) {
	p.Levels = 1
	return lattice.CoarseBits, nil
}

func (perStep) calibrate(x *calibratedComponent, _ Calibration, c Config, kind definition) (float64, error) {
	if !kind.Discrete() {
		x.scale = nodeScale(*x, kind.Law, ofStep(c))
		return errorBound(*x, kind.Law, c.Failure, 1), nil
	}
	x.scale = noise.ScaleUp(quotientUp(x.absoluteOf(c), dp.Exact(x.budget)))
	bound := errorBound(*x, kind.Law, c.Failure, 1)
	if bound > 0 { // noise is up to half a step from continuous noise, not half a unit (noise/PROOF.md, Lemma 5)
		bound += float64(math.Sqrt(float64(x.n)) * float64(slices.Max(x.steps)) * x.grid.Unit() * x.stretch)
	}
	return bound, nil
}

func (perStep) check(p Calibration) error {
	if p.Levels != 1 {
		return fmt.Errorf("mechanisms: calibration: levels %d: %s has one", p.Levels, p.Name)
	}
	return withoutFilter(p)
}

func (perStep) matches(Calibration, Config) error { return nil }

func (perStep) loss(x calibratedComponent, _ Calibration, c Config, kind definition) (float64, dp.Curve) {
	if kind.Discrete() {
		return quotientUp(x.absoluteOf(c), dp.Dyadic(x.scale.Mant, x.scale.Exp)), nil
	}
	return nodeLoss(x, kind.Law, ofStep(c)), nil
}

func (perStep) sums(x calibratedComponent, _ Calibration, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := perstep.New(x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// absoluteOf returns the ℓ1 distance of all events of a unit, exactly: all may lie in one step, or be apart.
func (x calibratedComponent) absoluteOf(c Config) *big.Float {
	distance := new(big.Int).SetUint64(x.absolute)
	return dp.Float().SetInt(distance.Mul(distance, new(big.Int).SetUint64(c.Unit.StepEvents())))
}

// quotientUp returns x/y, rounded up once. So a distance divided by its scale is never above the ε of the scale.
func quotientUp(x, y *big.Float) float64 {
	quotient, _ := new(big.Float).SetPrec(53).SetMode(big.ToPositiveInf).Quo(x, y).Float64()
	return quotient
}

// ofStep returns the exposure of one node under which all events of a unit may lie. Several nodes are never worse,
// because (Σc)² ≥ Σc² (PROOF.md, Theorem 12). Events that are apart change a node of their own each (Theorem 15).
func ofStep(c Config) exposure {
	events := dp.Float().SetUint64(c.Unit.StepEvents())
	if c.Unit.Apart() {
		return exposure{squares: events, total: events}
	}
	return exposure{squares: dp.Float().Mul(events, events), total: events}
}

// filter is the noise structure of blt for a window: the noise of steps passes a filter.
type filter struct {
	window uint64 // W, steps
}

func (f filter) problems(c Config, bad func(format string, args ...any)) {
	if f.window < 1 || f.window > blt.MaxWindow {
		bad("window %d: not in [1, 2^22]", f.window)
	}
}

func (f filter) shape(p *Calibration, c Config) (bits int, err error) {
	if p.Filter, err = blt.Fit(f.window, c.AgeWeight, c.Poles); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return lattice.CoarseBits, nil
}

func (f filter) calibrate(x *calibratedComponent, p Calibration, c Config, _ definition) (bound float64, err error) {
	if x.scale, err = f.lossByAge(*x, p, c).ScaleFor(f.window, x.budget); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return filterErrorBound(*x, p.Filter, c.Failure)
}

func (filter) check(p Calibration) error {
	if p.Levels != 0 {
		return fmt.Errorf("mechanisms: calibration: %s has either levels or a filter", p.Name)
	}
	if err := p.Filter.Validate(); err != nil {
		return fmt.Errorf("mechanisms: calibration: %w", err)
	}
	return nil
}

func (filter) matches(p Calibration, c Config) error {
	if p.Decays() {
		return fmt.Errorf("mechanisms: calibration has memory %d, configured is a window", p.Decay.Memory)
	}
	if c.Poles != 0 && c.Poles != int(p.Filter.Count) {
		return fmt.Errorf("mechanisms: calibration has %d poles, configured are %d", p.Filter.Count, c.Poles)
	}
	return nil
}

func (f filter) loss(x calibratedComponent, p Calibration, c Config, _ definition) (float64, dp.Curve) {
	curve := f.lossByAge(x, p, c)
	return curve.Mu(f.window), curve
}

func (filter) sums(x calibratedComponent, p Calibration, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := blt.New(p.Filter, x.scale, x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// lossByAge is the privacy loss as a function of age, with the calibration of the noise.
type lossByAge interface {
	dp.Curve
	ScaleFor(age uint64, mu float64) (noise.Scale, error)
}

// lossByAge returns a component's loss for the unit of c.
func (f filter) lossByAge(x calibratedComponent, p Calibration, c Config) lossByAge {
	event := blt.Loss{Filter: p.Filter, Square: x.square.Lo, N: x.n, Scale: x.scale}
	if separation, several := c.Unit.EventSeparation(); several {
		return blt.UserLoss{Loss: event, Separation: separation, Window: f.window}
	}
	return event
}

// decaying is the noise structure of blt for decaying sums: the noise of steps passes a filter of package decay.
type decaying struct {
	memory uint64 // H, steps
}

func (f decaying) problems(c Config, bad func(format string, args ...any)) {
	if f.memory < decay.MinMemory || f.memory > decay.MaxMemory {
		bad("memory %d: not in [%d, %d]", f.memory, decay.MinMemory, decay.MaxMemory)
	}
	if c.AgeWeight != 0 || c.Poles != 0 {
		bad("age weight %g, poles %d: with a memory the filter is fitted for the whole life", c.AgeWeight, c.Poles)
	}
}

func (f decaying) shape(p *Calibration, c Config) (bits int, err error) {
	if p.Decay, err = decay.Fit(f.memory); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return leastBits(p.Decay, c)
}

// leastBits returns the number of bits of Λ of the coarsest lattice whose rounding costs almost nothing over a life,
// for all components.
func leastBits(f decay.Filter, c Config) (least int, err error) {
	for _, component := range c.Contribution.Components {
		bits, err := f.Bits(component.Size, func(bits int) lattice.Int128 {
			grid, err := lattice.NewFineGrid(component.Clip, bits)
			if err != nil {
				return lattice.Int128{}
			}
			return c.square(component, grid)
		})
		if err != nil {
			return 0, fmt.Errorf("mechanisms: memory %d, dimension %d: %w", f.Memory, component.Size, err)
		}
		least = max(least, bits)
	}
	return least, nil
}

func (decaying) calibrate(x *calibratedComponent, p Calibration, c Config, _ definition) (bound float64, err error) {
	if x.scale, err = lossForLife(*x, p, c).ScaleFor(x.budget); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return decayingErrorBound(*x, p.Decay, c.Failure), nil
}

func (decaying) check(p Calibration) error {
	if p.Levels != 0 || p.Filter != (blt.Filter{}) {
		return fmt.Errorf("mechanisms: calibration: %s must have exactly one of levels, filter and memory", p.Name)
	}
	if err := p.Decay.Validate(); err != nil {
		return fmt.Errorf("mechanisms: calibration: %w", err)
	}
	return nil
}

// errCoarse means that rounding on the calibration's lattice would add up over a life.
var errCoarse = errors.New("mechanisms: calibration: the lattice is too coarse for the memory")

func (f decaying) matches(p Calibration, c Config) error {
	if p.Decay.Memory != f.memory {
		return fmt.Errorf("mechanisms: calibration has memory %d, configured is %d", p.Decay.Memory, f.memory)
	}
	least, err := leastBits(p.Decay, c)
	if err == nil && p.Grid.Bits() < least {
		err = errCoarse
	}
	return err
}

func (decaying) loss(x calibratedComponent, p Calibration, c Config, _ definition) (float64, dp.Curve) {
	curve := lossForLife(x, p, c)
	return curve.Life(), curve
}

func (decaying) sums(x calibratedComponent, p Calibration, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := decay.New(p.Decay, x.scale, x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// lifetimeLoss is a privacy loss that stops growing with age, with the calibration of the noise.
type lifetimeLoss interface {
	dp.Curve
	Life() float64
	ScaleFor(mu float64) (noise.Scale, error)
}

// lossForLife returns a component's loss for the unit of c.
func lossForLife(x calibratedComponent, p Calibration, c Config) lifetimeLoss {
	event := decay.Loss{Filter: p.Decay, Square: x.square, N: x.n, Scale: x.scale}
	if separation, several := c.Unit.EventSeparation(); several {
		return decay.UserLoss{Loss: event, Separation: separation, Window: c.ExchangeSteps()}
	}
	return event
}
