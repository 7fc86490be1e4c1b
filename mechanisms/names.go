package mechanisms

import (
	"fmt"
	"math/big"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/names"
	"oriel/mechanisms/noise"
)

// byName is the noise structure of streams that count names: each name has noise of its own in each step, and is
// published from a threshold on (names/PROOF.md). Scales are in counts, not in lattice units.
type byName struct{}

// nameShare is the part of δ that the published names of single persons take with normal noise.
const nameShare = 0.5

func (byName) problems(c Config, bad func(format string, args ...any)) {
	noFilter(c, bad)
	facts, _ := FactsOf(c.Name)
	if !facts.Discrete() && !facts.Normal() {
		bad("names: %s has no law for them; once-laplace and once-gaussian do", c.Name)
	}
	if c.Unit != nil {
		if _, several := c.Unit.EventSeparation(); c.Unit.Adjacency() != dp.AddRemove || several && !c.Unit.Apart() {
			bad("names: unit %s, adjacency %v: want events, or a user's values in a period, present or absent", c.Unit.Name(), c.Unit.Adjacency())
		}
	}
	if c.Budget.Delta == 0 {
		bad("budget: delta 0: the name of a single person is published with a positive probability")
	}
}

// nameLevels is Calibration.Levels of streams that count names.
const nameLevels = 255

// shape sets the threshold. Λ has no meaning.
func (byName) shape(p *Calibration, c Config) (bits int, err error) {
	p.Levels = nameLevels
	scale := nameScale(c)
	top := dp.Float().Quo(dp.Exact(c.Budget.Delta), unitNames(c))
	leak, _ := top.Float64()
	leak = float64(leak * (1 - 0x1p-40)) // leaves room for the rounding of the claim
	if facts, _ := FactsOf(c.Name); facts.Discrete() {
		most, err := noise.LeastTruncation(scale, leak)
		if err != nil {
			return 0, fmt.Errorf("mechanisms: names: %w", err)
		}
		p.Threshold = most + 1
		return lattice.CoarseBits, nil
	}
	for _, tail := range noise.NormalTails(scale) {
		p.Threshold++
		if tail <= float64(leak*nameShare) {
			p.Threshold++ // a name with count 1 needs noise of τ − 1
			return lattice.CoarseBits, nil
		}
	}
	return 0, fmt.Errorf("mechanisms: names: delta %g, epsilon %g: no threshold below 2^16 keeps a name of one person",
		c.Budget.Delta, c.Budget.Epsilon)
}

// unitNames returns the number of counts that a unit changes, at most.
func unitNames(c Config) *big.Float { return dp.Float().SetUint64(c.Unit.StepEvents()) }

// nameScale returns the scale for a budget: m/ε, or √m/µ.
func nameScale(c Config) noise.Scale {
	if facts, _ := FactsOf(c.Name); facts.Discrete() {
		return noise.ScaleUp(quotientUp(unitNames(c), dp.Exact(c.Budget.Epsilon)))
	}
	mu := dp.GaussianMu(dp.Budget{Epsilon: c.Budget.Epsilon, Delta: float64(c.Budget.Delta * nameShare)})
	root := dp.Root(unitNames(c))
	return noise.ScaleUp(dp.Up(root.Quo(root, dp.Exact(mu)), scaleMargin))
}

func (byName) calibrate(x *calibratedComponent, _ Calibration, c Config, _ definition) (float64, error) {
	x.scale = nameScale(c)
	return 0, nil
}

func (byName) check(p Calibration) error {
	if p.Levels != nameLevels || p.Threshold < 2 || p.Threshold > noise.MaxTruncated+1 {
		return fmt.Errorf("mechanisms: calibration: threshold %d: not in [2, 2^16 + 1]", p.Threshold)
	}
	return withoutFilter(p)
}

func (byName) matches(p Calibration, _ Config) error { return byName{}.check(p) }

func (byName) loss(x calibratedComponent, _ Calibration, c Config, kind definition) (float64, dp.Curve) {
	scale := dp.Dyadic(x.scale.Mant, x.scale.Exp)
	if kind.Discrete() {
		return quotientUp(unitNames(c), scale), nil
	}
	root := dp.Root(unitNames(c))
	return dp.Up(root.Quo(root, scale), claimMargin), nil
}

// told returns the probability that some name of a unit is published though nobody else has it, rounded up: m·q.
func (p Calibration) told(c Config, kind definition) float64 {
	if c.Contribution.Names == 0 {
		return 0
	}
	var total dp.Total
	if kind.Discrete() {
		total.AddTold(p.Scale.TruncatedEnd(p.Threshold - 1))
	} else {
		total.AddTold(p.Scale.NormalTail(p.Threshold - 1))
	}
	all := total.Times(c.Unit.StepEvents())
	return all.Told()
}

// law returns the law of names, and its sampler.
func (p Calibration) law(scale noise.Scale) (*names.Law, noise.Sampler, error) {
	kind, _ := definitionOf(p.Name)
	rate := dp.Dyadic(scale.Mant, scale.Exp)
	one := quotientUp(dp.Exact(1), rate)
	if !kind.Discrete() {
		sampler, err := noise.NewGaussian(scale)
		if err != nil {
			return nil, nil, err
		}
		tails := noise.NormalTails(scale)
		if p.Threshold-1 > int64(len(tails)) {
			return nil, nil, fmt.Errorf("mechanisms: names: threshold %d: beyond the noise of scale %v", p.Threshold, scale)
		}
		law := names.NewLaw(tails, p.Threshold)
		law.Mu = one
		return law, sampler, nil
	}
	sampler, err := noise.NewTruncated(scale, p.Threshold-1)
	if err != nil {
		return nil, nil, err
	}
	law := names.NewLaw(sampler.Tails(), p.Threshold)
	law.Epsilon = one
	return law, sampler, nil
}

func (byName) sums(x calibratedComponent, p Calibration, _ Config, sampler noise.Sampler) (func() Sum, error) {
	law, of, err := p.law(x.scale)
	if err != nil {
		return nil, err
	}
	if sampler == nil {
		sampler = of
	}
	first := names.New(law, sampler, x.instance)
	return func() Sum { return first.Fresh() }, nil
}

// AddName takes one record of the open step of a stream that counts names: it absorbs the name, and counts it. A nil
// name is a record that is no event: it contributes nothing, and changes no noise.
func (s *Stream) AddName(id noise.Identity, name []byte) {
	if len(name) > s.config.Contribution.Names || name != nil && len(name) == 0 {
		panic(fmt.Sprintf("BUG: mechanisms: a name of %d bytes: not in [1, %d]", len(name), s.config.Contribution.Names))
	}
	s.chain.AbsorbName(id, name)
	if name != nil {
		s.names().Open().Add(name, 1)
	}
}

// names returns the sum of a stream that counts names. Other streams have none, and it panics.
func (s *Stream) names() *names.Sum { return s.sums[0].(*names.Sum) }

// Listed returns the names that the last closed step publishes, in ascending order of their bytes: those whose count
// with noise is at least the threshold. It is valid until the next AddName, and empty after Restore.
func (s *Stream) Listed() []names.Listed { return s.names().Listed() }

// Names returns the law of the published counts.
func (s *Stream) Names() *names.Law { return s.names().Law() }

// NamesPart returns counts of the open step that no earlier part has, at most max bytes of them, and false if there are
// none. It is valid until the next call. The parts of a step are private, and must only ever be stored sealed.
func (s *Stream) NamesPart(max int) (part []byte, some bool) { return s.names().Open().Part(max) }

// NamesAgain forgets which counts are in parts, so that the next parts have all names of the open step.
func (s *Stream) NamesAgain() { s.names().Open().Again() }

// TakeNames adds the counts of a part to the open step, after Restore. A state has no names: it needs all parts of its
// open step, each once. If one is missing, Close panics.
func (s *Stream) TakeNames(part []byte) error { return s.names().Open().Take(part) }

// NamesBytes returns the memory of the names of the open step.
func (s *Stream) NamesBytes() int { return s.names().Bytes() }

// CountsNames reports whether the stream counts names, and no sums.
func (s *Stream) CountsNames() bool { return s.config.Contribution.Names > 0 }
