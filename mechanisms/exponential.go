package mechanisms

import (
	"fmt"
	"math"
	"math/bits"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/perstep"
	"oriel/mechanisms/protection"
)

// ExponentialMechanism is the mechanism that releases no sum. It draws elements, at public steps, by the sums of all
// contributions, which stay sealed (Stream.Draw). It needs a stream that ends within one window, so that the guarantee
// covers the stream's whole life.
const ExponentialMechanism = "draws"

// Limits of ExponentialMechanism.
const (
	maxDrawn   = 1 << 32 // steps
	maxRecords = 1 << 37 // records in a life: with Λ < 2²⁵ a sum is below 2⁶², and a difference of two sums below 2⁶³
	maxGumbel  = 1 << 50 // β, lattice units: floating point holds it exactly, with bits to spare
)

// Draws says when a stream of ExponentialMechanism draws, and how much privacy a draw may lose. All fields are public.
type Draws struct {
	K          uint64  // k, number of elements drawn at each draw time; at least 1
	Every      uint64  // steps between draw times, and before the first; 0: MaxDraws applies
	MaxDraws   uint64  // with Every = 0: largest number of draw times in a life; public data must decide the draw times
	Disjoint   bool    // contributions have at most one nonzero integer, and the k elements of a draw time are distinct
	MaxEpsilon float64 // largest ε of one draw; 0: as large as the budget allows
}

// draws returns the largest number of draws in the stream's life.
func (d Draws) draws(horizon uint64) uint64 {
	if d.Every > 0 {
		return horizon / d.Every
	}
	return d.MaxDraws
}

// affected returns the largest number of draws in a life whose scores the exchange of one event can change: all draws,
// or one per draw time if the draws of a time are among disjoint coordinates.
func (d Draws) affected(horizon uint64) uint64 {
	if d.Disjoint {
		return d.draws(horizon)
	}
	return d.K * d.draws(horizon)
}

// exponential is the structure of ExponentialMechanism. A calibration's scale is β: an element is drawn with
// probability proportional to e^(q/β), where q is its sum in lattice units. This is equivalent to adding Gumbel noise
// of scale β to each sum and taking the largest.
type exponential struct{ lifetime protection.Lifetime }

func (x exponential) problems(c Config, bad func(format string, args ...any)) {
	d := c.Draws
	switch high, all := bits.Mul64(x.lifetime.Steps, c.Batch); {
	case x.lifetime.Within != x.lifetime.Steps || x.lifetime.Steps > maxDrawn:
		bad(
			"window %d, horizon %d: %s protects the whole life of a stream that ends, of 1 to 2^32 steps",
			x.lifetime.Within,
			x.lifetime.Steps,
			c.Name,
		)
	case high > 0 || all > maxRecords:
		bad("horizon %d, batch %d: above 2^37 records, which is how many sums have room for", x.lifetime.Steps, c.Batch)
	}
	switch {
	case d == Draws{}:
		bad("draws: %s releases nothing else, and the operator asks for none", c.Name)
	case d.K < 1 || d.K > math.MaxUint16:
		bad("draws: %d at a time: not in [1, 65535]", d.K)
	case d.MaxDraws == 0 && (d.Every < 1 || d.Every > x.lifetime.Steps):
		bad("draws: every %d steps: not in [1, %d], the horizon", d.Every, x.lifetime.Steps)
	case d.MaxDraws > 0 && (d.Every > 0 || d.MaxDraws > x.lifetime.Steps):
		bad(
			"draws: %d times, and every %d steps: one of them is 0, and there are %d steps",
			d.MaxDraws,
			d.Every,
			x.lifetime.Steps,
		)
	case !(d.MaxEpsilon >= 0) || math.IsInf(d.MaxEpsilon, 1):
		bad("draws: epsilon %g of one at most: not finite and at least 0", d.MaxEpsilon)
	}
	if c.Failure != 0 {
		bad("failure %g: %s has no error bound", c.Failure, c.Name)
	}
	if len(c.Contribution.Components) > 1 {
		bad("contribution: %d components: %s has one", len(c.Contribution.Components), c.Name)
	}
	if len(c.Contribution.Components) == 1 {
		p := c.Contribution.Components[0]
		if p.Scales != nil {
			bad("contribution: scales: %s has none", c.Name)
		}
		if g, err := lattice.NewGrid(p.Clip); err == nil {
			if b := p.Largest(g); b < 1 || b > g.Lambda {
				bad("contribution: bound %d: not in [1, %d]", b, g.Lambda)
			}
		}
	}
	noFilter(c, bad)
}

func (exponential) shape(*Calibration, Config) (bits int, err error) { return lattice.CoarseBits, nil }

// logitSensitivity returns d, the largest change of a sum when one event is exchanged, in lattice units.
func (x calibratedComponent) logitSensitivity(c Config) uint64 {
	b := uint64(c.Contribution.Components[0].Largest(x.grid))
	if c.Unit.AgainstNull() {
		return b
	}
	return 2 * b
}

// drawSensitivity returns ε₀·β, the largest change of the difference of two scores in one draw when one event is
// exchanged, in lattice units. For disjoint contributions it is d, because either one score changes by d, or the
// changes of two scores add up to d.
func (x calibratedComponent) drawSensitivity(c Config) uint64 {
	if c.Draws.Disjoint {
		return x.logitSensitivity(c)
	}
	return 2 * x.logitSensitivity(c)
}

// calibrate sets β = 2d/ε₀, or d/ε₀ for disjoint contributions, in whole units plus one, so that the loss recomputed
// from it is below the budget. ε₀ is the larger of ε/n and √(8ρ/n), where ρ is the zCDP parameter that ε and δ allow,
// and n the number of draws in a life that one event affects.
func (exponential) calibrate(x *calibratedComponent, _ Calibration, c Config, kind definition) (float64, error) {
	n := float64(c.Draws.affected(c.Scope.End()))
	perDraw := max(c.Budget.Epsilon/n, math.Sqrt(8*dp.ZCDPRho(c.Budget)/n))
	if c.Draws.MaxEpsilon > 0 {
		perDraw = min(perDraw, c.Draws.MaxEpsilon)
	}
	beta := math.Ceil(float64(float64(x.drawSensitivity(c))/perDraw*(1+0x1p-40))) + 1
	if !(beta < maxGumbel) {
		return 0, fmt.Errorf("mechanisms: %s: %.0f draws, each of so little that none would be noticed", kind.name, n)
	}
	x.scale = noise.ScaleUp(beta)
	return 0, nil
}

func (exponential) check(p Calibration) error {
	if p.Levels != 0 {
		return fmt.Errorf("mechanisms: calibration: levels %d: %s has none", p.Levels, p.Name)
	}
	if s := p.Scale; s.Exp < 0 || s.Float64() >= maxGumbel {
		return fmt.Errorf("mechanisms: calibration: scale %v: not a whole number below 2^50", s)
	}
	return withoutFilter(p)
}

func (exponential) matches(Calibration, Config) error { return nil }

func (exponential) loss(calibratedComponent, Calibration, Config, definition) (float64, dp.Curve) {
	panic("BUG: mechanisms: draws have the loss of drawsLoss")
}

func (exponential) sums(calibratedComponent, Calibration, Config, noise.Sampler) (func() Sum, error) {
	return func() Sum { return &silent{} }, nil
}

// DrawLaw returns the law of every Stream.Draw under a calibration of ExponentialMechanism: Δ = d and ε₀ = 2d/β, or for
// disjoint contributions Δ = d/2 and ε₀ = d/β.
func (p Calibration) DrawLaw(c Config) Exponential {
	x, beta := p.components(c)[0], p.Scale.Mant<<p.Scale.Exp
	law := Exponential{
		Epsilon: Ratio{Num: x.drawSensitivity(c), Den: beta}, Sensitivity: Ratio{Num: x.logitSensitivity(c), Den: 1},
	}
	if c.Draws.Disjoint {
		law.Sensitivity.Den = 2
	}
	return law
}

// drawsLoss returns the loss of all draws of a life for one event (PROOF.md, Draws). A draw is ε₀-DP with a bounded
// range of ε₀, so n draws lose nε₀, or nε₀²/8 in zCDP. The result is the bound with the smaller ε at δ.
func (p Calibration) drawsLoss(c Config) dp.Draws {
	n, perDraw := dp.Float().SetUint64(c.Draws.affected(c.Scope.End())), p.DrawLaw(c).Epsilon.Up()
	total := func(x float64) float64 { return dp.RoundUp(dp.Float().Mul(dp.Exact(x), n)) }
	pure, rho := dp.Draws{Pure: total(perDraw)}, dp.Draws{Rho: total(dp.ExponentialRho(perDraw))}
	if rho.Epsilon(c.Budget.Delta) < pure.Epsilon(c.Budget.Delta) {
		return rho
	}
	return pure
}

// drawState is the part of a stream's state that only streams with draws need.
type drawState struct {
	totals    []int64 // for an exponential mechanism: unreleased contribution sums of all closed steps; otherwise nil
	drawn     uint64  // for an exponential mechanism: draws since the last step closed; K from the next record on
	to        int     // for an exponential mechanism: end of the element range of the last draw
	drawTimes uint64  // for Draws.MaxDraws: number of draw times so far

	by func(d Draw, drawn int) int // replaces the mechanism's own draws, set by DrawBy; nil: the mechanism draws
}

// close adds the contribution sum of a closed step. Sums of a life fit 64 bits by exponential.problems.
func (d *drawState) close(partial []lattice.Int128) {
	d.drawn, d.to = 0, 0
	for i := range d.totals {
		d.totals[i] += int64(partial[i].Lo)
	}
}

// totals returns the sums of ExponentialMechanism, and nil for other mechanisms.
func (s *Stream) totals() []int64 {
	if s.draws == nil {
		return nil
	}
	return s.draws.totals
}

// Draw draws one of the coordinates from … to−1 by the sums of contributions over all closed steps: coordinate i with
// probability proportional to e^(q_i/β). It returns the coordinate's offset in that range. The Guarantee includes the
// loss of all draws. Draw panics for other mechanisms and outside the schedule. Not in the schedule are steps that are
// not a multiple of Every, draws after the first record of the next step, and draws after MaxDraws or K. With Disjoint,
// from must not be before the end of the previous draw's range. Whether a step draws must be public.
func (s *Stream) Draw(from, to int) int {
	totals := s.totals()
	if totals == nil || !s.due(from) {
		panic(fmt.Sprintf("BUG: mechanisms: %s: a draw of step %d is not in the schedule", s.calibration.Name, s.Step()))
	}
	if s.draws.drawn == 0 {
		s.draws.drawTimes++
	}
	s.draws.drawn++
	s.draws.to = to
	return s.choose(uint16(s.draws.drawn-1), totals[from:to], s.law)
}

// due reports whether the schedule allows a draw among coordinates that begin at from.
func (s *Stream) due(from int) bool {
	d, made := s.config.Draws, s.draws.drawn
	switch {
	case s.Step() == 0 || made == d.K || d.Disjoint && from < s.draws.to:
		return false
	case d.Every > 0:
		return s.Step()%d.Every == 0
	}
	return made > 0 || s.draws.drawTimes < d.MaxDraws
}

// silent is a Sum that releases zeros, because sums of ExponentialMechanism stay in the stream.
type silent struct{ perstep.Counter }

func (s *silent) Add(dst []float64, _ []lattice.Int128, _ *noise.Chain) {
	s.Next()
	clear(dst)
}
