package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// Calibration holds everything besides the data that determines a stream's bytes. It is computed once, when the stream
// is opened, and stored with it. Because the computation depends on the platform's math functions, a restart reads the
// stored calibration. It only checks, by Guarantee, that the calibration proves the configured budget.
// Grid, Scale and ErrorBound belong to the first component; levels and filter to all components.
type Calibration struct {
	Name       string
	Grid       lattice.Grid
	Scale      noise.Scale            // s, noise scale of a node or a step, lattice units
	Levels     uint8                  // h of a tree; 1 for per-step noise; 0 for blt; nameLevels for names
	Filter     blt.Filter             // coefficients b of blt without memory; otherwise zero
	Decay      decay.Filter           // coefficients e of blt with memory; otherwise zero
	ErrorBound float64                // E ≥ ‖ν_t‖₂ with probability 1 − Config.Failure per step, loss units; 0: no bound
	Components []ComponentCalibration // all components, including the first; nil for the default contribution
	Threshold  int64                  // τ of names, and M = τ − 1 for Laplace noise; 0: the stream has no names
}

// ComponentCalibration is the part of a calibration for one component: its shape, which must match the configuration,
// and the results of calibration.
type ComponentCalibration struct {
	Name             string
	Size, Entries    int
	Grid             lattice.Grid
	Replace, ZeroOut lattice.Int128 // squared ℓ2 sensitivities of the quantised contribution, units²
	Share            uint32
	Scales           []uint32

	Scale      noise.Scale
	ErrorBound float64
}

// ErrUnproved marks a calibration that proves less than the configured budget.
var ErrUnproved = errors.New("mechanisms: calibration proves less than the configured budget")

// Calibrate calibrates noise to a configuration.
func Calibrate(c Config) (Calibration, error) {
	if err := c.Validate(); err != nil {
		return Calibration{}, err
	}
	kind, _ := definitionOf(c.Name)
	p := Calibration{Name: c.Name}
	structure := kind.under(c)
	size, err := structure.shape(&p, c)
	if err != nil {
		return Calibration{}, err
	}
	components, err := c.components(size)
	if err != nil {
		return Calibration{}, err
	}
	c.share(components, kind.Law)
	shapes := c.shapes(components)
	for i := range components {
		if shapes[i].ErrorBound, err = structure.calibrate(&components[i], p, c, kind); err != nil {
			return Calibration{}, err
		}
		shapes[i].Scale = components[i].scale
	}
	p.Grid, p.Scale, p.ErrorBound = shapes[0].Grid, shapes[0].Scale, shapes[0].ErrorBound
	if !c.Contribution.Plain() {
		p.Components = shapes
	}
	if _, err := p.sums(c, nil); err != nil {
		return Calibration{}, fmt.Errorf("mechanisms: epsilon %g, delta %g, %s: %w",
			c.Budget.Epsilon, c.Budget.Delta, c.Words().Length, err)
	}
	if _, err := p.Guarantee(c); err != nil {
		return Calibration{}, err
	}
	return p, nil
}

// Guarantee returns the guarantee that this calibration proves under c, computed from the calibration's integers and
// rounded against the claim. It fails if the calibration does not match c, or if it proves less than c.Budget. ε is
// smaller than c.Budget.Epsilon if Draws.MaxEpsilon makes it smaller. Pure-ε mechanisms prove δ = 0.
func (p Calibration) Guarantee(c Config) (protection.Guarantee, error) {
	if err := p.matches(c); err != nil {
		return protection.Guarantee{}, err
	}
	g, loss := p.proves(c)
	switch kind, _ := definitionOf(p.Name); {
	case g.Told > c.Budget.Delta:
		return protection.Guarantee{}, fmt.Errorf("%w: delta %g of %g", ErrUnproved, g.Told, c.Budget.Delta)
	case kind.Pure(), kind.Structure == Selection:
		if loss > c.Budget.Epsilon {
			return protection.Guarantee{}, fmt.Errorf("%w: epsilon %g of %g", ErrUnproved, loss, c.Budget.Epsilon)
		}
		if c.Draws.MaxEpsilon > 0 {
			g.Epsilon = loss
			return g, nil
		}
	default:
		if delta := normal(loss, g.Told).Delta(c.Budget.Epsilon); delta > c.Budget.Delta {
			return protection.Guarantee{}, fmt.Errorf("%w: delta %g of %g at epsilon %g",
				ErrUnproved, delta, c.Budget.Delta, c.Budget.Epsilon)
		}
	}
	g.Epsilon = c.Budget.Epsilon
	return g, nil
}

// normal returns the loss of Gaussian noise, and of told events.
func normal(mu, told float64) dp.Total {
	var total dp.Total
	total.AddMu(mu)
	total.AddTold(told)
	return total
}

// EventGuarantee returns the guarantee that a user-level calibration gives for one event exchanged for another of the
// same user id, under the configured adjacency: ε is recomputed at c.Budget.Delta. Exchange across ids is not covered,
// because it changes which later events of both users are accepted. For a protection.UserPeriod it is the guarantee for
// one event that is present or absent, and costs two contributions (PROOF.md, Theorems 14 and 16).
func (p Calibration) EventGuarantee(c Config) (protection.Guarantee, error) {
	if _, err := p.Guarantee(c); err != nil {
		return protection.Guarantee{}, err
	}
	periodic, apart := c.Unit.Figures().Period > 0, c.Unit.Apart()
	c.Unit = protection.Event{Exchange: c.Unit.Adjacency()}
	g, loss := p.proves(c)
	switch { // two contributions, because an event that is absent admits the user's next one
	case apart && g.Mu > 0:
		two := dp.Float().Sqrt(dp.Exact(2))
		g.Mu = dp.Up(two.Mul(two, dp.Exact(g.Mu)), claimMargin)
		loss, g.Told = g.Mu, float64(2*g.Told)
	case apart:
		g.Told, loss = float64(2*g.Told), float64(2*loss)
		g.Delta = g.Told // 0 for sums
	case periodic:
		g.Mu, loss = float64(2*g.Mu), float64(2*loss)
	}
	g.Epsilon = recomputed(g, loss)
	return g, nil
}

// proves returns the guarantee without its ε, and the µ or ε of one window, rounded up.
func (p Calibration) proves(c Config) (g protection.Guarantee, loss float64) {
	kind, _ := definitionOf(p.Name)
	g = protection.Guarantee{Terms: c.Terms, Mechanism: p.Name, Batch: c.Batch}
	if kind.Structure == Selection {
		g.Draws, g.Delta = p.drawsLoss(c), c.Budget.Delta
		return g, g.Draws.Epsilon(g.Delta)
	}
	loss, g.Curve = p.loss(c, kind)
	if g.Told = p.told(c, kind); kind.Pure() {
		g.Delta = g.Told
	} else {
		g.Mu, g.Delta = loss, c.Budget.Delta
	}
	return g, loss
}

// loss returns the µ or ε of one window, rounded up, and the curve, for all components together. Because their noises
// are independent, the µ² of the components add up, or their ε.
func (p Calibration) loss(c Config, kind definition) (float64, dp.Curve) {
	var total dp.Total
	var curves []dp.Curve
	components := p.components(c)
	for _, x := range components {
		loss, curve := kind.under(c).loss(x, p, c, kind)
		if len(components) == 1 {
			return loss, curve
		}
		if kind.Pure() {
			total.AddPure(loss)
		} else {
			total.AddMu(loss)
		}
		if curve != nil {
			curves = append(curves, curve)
		}
	}
	switch {
	case kind.Pure():
		return total.Pure(), nil
	case curves == nil:
		return total.Mu(), nil
	}
	return total.Mu(), dp.Compose(curves...)
}

// components returns the components of a calibration that matches c.
func (p Calibration) components(c Config) []calibratedComponent {
	components, err := c.components(p.Grid.Bits())
	if err != nil {
		panic("BUG: mechanisms: a calibration matches an invalid configuration")
	}
	for i := range components {
		components[i].scale = p.Component(i).Scale
	}
	return components
}

// Component returns component i. For the default contribution it has only grid, scale and error bound.
func (p Calibration) Component(i int) ComponentCalibration {
	if p.Components == nil && i == 0 {
		return ComponentCalibration{Grid: p.Grid, Scale: p.Scale, ErrorBound: p.ErrorBound}
	}
	return p.Components[i]
}

// shapes returns a calibration entry for each component of a configuration, without scale and error bound.
func (c Config) shapes(components []calibratedComponent) []ComponentCalibration {
	out := make([]ComponentCalibration, len(components))
	for i, p := range c.Contribution.Components {
		replace, zeroOut := p.Distances(components[i].grid)
		out[i] = ComponentCalibration{
			Name: p.Name, Size: p.Size, Entries: p.Entries(), Grid: components[i].grid,
			Replace: replace, ZeroOut: zeroOut, Share: p.Share, Scales: p.Scales,
		}
	}
	return out
}

// same reports whether two components have the same shape.
func (p ComponentCalibration) same(q ComponentCalibration) bool {
	return p.Name == q.Name && p.Size == q.Size && p.Entries == q.Entries && p.Grid == q.Grid && p.Replace == q.Replace &&
		p.ZeroOut == q.ZeroOut && p.Share == q.Share && slices.Equal(p.Scales, q.Scales)
}

// recomputed returns the ε of a loss at the guarantee's δ.
func recomputed(g protection.Guarantee, loss float64) float64 {
	if g.Mu == 0 {
		return loss
	}
	return normal(g.Mu, g.Told).Epsilon(g.Delta)
}

// matches checks that the configuration is valid and the calibration has its shape.
func (p Calibration) matches(c Config) error {
	if err := errors.Join(c.Validate(), p.validate()); err != nil {
		return err
	}
	size := lattice.CoarseBits
	if p.Decays() {
		size = p.Grid.Bits()
	}
	components, err := c.components(size)
	switch {
	case err != nil:
		return err
	case p.Name != c.Name:
		return fmt.Errorf("mechanisms: calibration is of %q, configured is %q", p.Name, c.Name)
	case c.Contribution.Plain() != (p.Components == nil):
		return errors.New("mechanisms: calibration and configuration must both have the default contribution, or neither")
	case p.Grid != components[0].grid:
		return fmt.Errorf("mechanisms: calibration has another lattice than clip %g", c.Clip())
	case p.Components != nil && !slices.EqualFunc(p.Components, c.shapes(components), ComponentCalibration.same):
		return errors.New("mechanisms: calibration has other components than are configured")
	case (p.Threshold > 0) != (c.Contribution.Names > 0):
		return errors.New("mechanisms: calibration and configuration must both count names, or neither")
	case c.Failure > 0 && p.ErrorBound == 0:
		return fmt.Errorf("mechanisms: calibration has no error bound, failure %g needs one", c.Failure)
	}
	kind, _ := definitionOf(p.Name)
	return kind.under(c).matches(p, c)
}

// sums returns a function that makes the mechanisms of a calibration, one for each component, before their first step.
// They draw from sampler, or from the calibration's sampler if it is nil.
func (p Calibration) sums(c Config, sampler noise.Sampler) (func() []Sum, error) {
	kind, _ := definitionOf(p.Name)
	components := p.components(c)
	fresh := make([]func() Sum, len(components))
	for i, x := range components {
		of, err := sampler, error(nil)
		if sampler == nil && kind.Structure != Selection && c.Contribution.Names == 0 {
			of, err = newSampler(kind, x)
		}
		if err != nil {
			return nil, err
		}
		if fresh[i], err = kind.under(c).sums(x, p, c, of); err != nil {
			return nil, err
		}
	}
	return func() []Sum {
		sums := make([]Sum, len(fresh))
		for i := range fresh {
			sums[i] = fresh[i]()
		}
		return sums
	}, nil
}

// SumsOver returns the mechanisms of a calibration, one for each component, before their first step. They draw from
// sampler, or from the calibration's sampler if it is nil. Only audits and tests may call it: if the caller knows the
// draws, the mechanisms give no privacy. Use Open to get a stream.
func (p Calibration) SumsOver(c Config, sampler noise.Sampler) ([]Sum, error) {
	if err := p.matches(c); err != nil {
		return nil, err
	}
	fresh, err := p.sums(c, sampler)
	if err != nil {
		return nil, err
	}
	return fresh(), nil
}

// newSampler returns the sampler of a calibration.
func newSampler(kind definition, x calibratedComponent) (noise.Sampler, error) {
	switch kind.Law {
	case Gaussian:
		return noise.NewGaussian(x.scale)
	case Gamma:
		return noise.NewGamma(x.scale, x.n)
	case Laplace:
		if kind.Discrete() {
			return noise.NewDiscreteLaplace(x.scale, x.steps)
		}
		return noise.NewLaplace(x.scale)
	case Gumbel: // an exponential mechanism draws with noise.Chooser
	}
	panic(fmt.Sprintf("BUG: mechanisms: no sampler for %s", kind.name))
}

// calibratedComponent is a component under a configuration, with all inputs to its noise and its loss.
type calibratedComponent struct {
	instance uint16
	n        int
	grid     lattice.Grid
	square   lattice.Int128 // Δ², Δ the ℓ2 sensitivity, units²
	absolute uint64         // Δ₁, the ℓ1 sensitivity, units
	steps    []int64        // of coordinates, for discrete noise
	stretch  float64        // √max k_i
	budget   float64        // µ for Gaussian noise, ε for pure noise
	scale    noise.Scale
}

// shareMargin is the relative part of the budget that components leave unused. It exceeds the rounding of a share and
// of the sum of losses. Therefore the loss recomputed from all components' integers is not above the calibrated loss.
const shareMargin = 0x1p-48

// components returns the components of a valid configuration on their grids, each with a Λ of size bits, but still
// without scales and budgets. Under a Decay it refuses a lattice on which a step could exceed maxDecayed.
func (c Config) components(size int) ([]calibratedComponent, error) {
	out := make([]calibratedComponent, len(c.Contribution.Components))
	for i, p := range c.Contribution.Components {
		grid, err := lattice.NewFineGrid(p.Clip, size)
		if err != nil {
			return nil, err
		}
		_, decays := c.Scope.Memory()
		if most := maxDecayed / uint64(grid.Lambda); decays && c.Batch > most {
			return nil, fmt.Errorf("mechanisms: batch %d: above %d, the most on a lattice as fine as a stream of %s and dimension %d need",
				c.Batch, most, c.Words().Length, p.Size)
		}
		out[i] = calibratedComponent{
			instance: uint16(i), n: p.Size, grid: grid, square: c.square(p, grid), absolute: c.absolute(p, grid),
			steps: p.Steps(grid), stretch: 1,
		}
		if p.Scales != nil {
			out[i].stretch = math.Sqrt(float64(slices.Max(p.Scales)))
		}
	}
	return out, nil
}

// share gives each component its budget; a single component gets all of it.
func (c Config) share(components []calibratedComponent, law Law) {
	budget := c.Budget.Epsilon
	if law == Gaussian {
		budget = dp.GaussianMu(c.Budget)
	}
	shares := 0.0 // the sum of shares; exact because it stays below 2⁴²
	for _, p := range c.Contribution.Components {
		shares += float64(p.Share)
	}
	for i, p := range c.Contribution.Components {
		components[i].budget = budget
		if len(components) > 1 {
			components[i].budget = float64(float64(budget*componentBudget(law, float64(p.Share)/shares)) * (1 - shareMargin))
		}
	}
}

// componentBudget returns the µ or ε of a share of the budget. A share is a part of µ² or of ε.
func componentBudget(law Law, share float64) float64 {
	if law == Gaussian {
		return math.Sqrt(share)
	}
	return share
}

// square returns Δ² in units². Under replace an event is exchanged for any other event, or for a null event, whose
// contribution is zero. At user level both adjacencies allow this.
//
// For the default contribution Δ is 2Λ, or Λ against the null event, because Quantise checks at its end that the
// integers nᵢ of a contribution have Σnᵢ² ≤ Λ². The distance of two batches is the distance of the one contribution in
// which they differ.
func (c Config) square(p contribution.Component, grid lattice.Grid) lattice.Int128 {
	replace, zeroOut := p.Distances(grid)
	if c.Unit.AgainstNull() || replace.Less(zeroOut) {
		return zeroOut
	}
	return replace
}

// absolute returns Δ₁ in units, as square returns Δ².
func (c Config) absolute(p contribution.Component, grid lattice.Grid) uint64 {
	replace, zeroOut := p.AbsoluteDistances(grid)
	if c.Unit.AgainstNull() {
		return zeroOut
	}
	return max(replace, zeroOut)
}

// Sensitivity returns Δ of component 0 in loss units: the largest ℓ2 distance, in scaled coordinates, by which the
// exchange of one event moves the contribution sum of its step. It is exact for the default contribution.
func (p Calibration) Sensitivity(c Config) float64 {
	square := c.square(c.Contribution.Components[0], p.Grid)
	return float64(math.Sqrt(lattice.Grid{}.Float64(square)) * p.Grid.Unit())
}
