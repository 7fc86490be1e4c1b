package submodular

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/elementary"
)

// schedule says when a stream draws: a set of k, one position after the other, every so many steps.
func (c configured) schedule(m *mechanisms.Config) error {
	if m.Name != mechanisms.Drawing {
		return fmt.Errorf("submodular: ORIEL_RULE=%s takes %s, not %s", byDraws, mechanisms.Drawing, m.Name)
	}
	if c.every > m.Horizon {
		return fmt.Errorf("submodular: ORIEL_EMIT_EVERY=%d: above the %d steps after which the stream ends, so that nothing is drawn",
			c.every, m.Horizon)
	}
	m.Draws = mechanisms.Draws{Each: uint64(c.pick), Every: c.every}
	if !c.printed {
		return nil
	}
	if !(m.Budget.Delta > 0) {
		return errors.New("submodular: ORIEL_RATE=printed: needs ORIEL_DELTA, pure ε has no printed rate")
	}
	// A draw by e^{η·q} of gains in [0, 1] has a range of 2η where an event is exchanged, and of η against none.
	m.Draws.Most = printedRate(c.pick, m.Horizon/c.every, m.Budget.Epsilon, m.Budget.Delta)
	if !m.AgainstNull() {
		m.Draws.Most = float64(2 * m.Draws.Most)
	}
	return nil
}

// printedRate is η = ε/(k·√(32T·ln(k/δ))) of Algorithm 2 of the source, FI-DP, for T times at which a set is drawn.
func printedRate(pick int, times uint64, epsilon, delta float64) float64 {
	k := float64(pick)
	return epsilon / float64(k*math.Sqrt(float64(32*float64(times))*elementary.Log(k/delta)))
}

// describeDraws tells what bounds a leaf.
func (c configured) describeDraws() operators.Description {
	return operators.Description{
		Draws: true, Mechanisms: []string{mechanisms.Drawing},
		Leaves: fmt.Sprintf("%d gains in [0, 1]: an exchange moves each of their sums by 1 at most, for all draws to come",
			c.pick*c.elements),
		Steps: fmt.Sprintf("%d of %d elements, each drawn with a chance that grows by e^η with each unit of gain, and perhaps twice",
			c.pick, c.elements),
	}
}

// draws finds elements by exponential weights, of sums of gains that are sealed: Algorithm 2 of the source, FI-DP.
type draws struct{ prefixes }

// decide draws the element of each position, by what all elements would have gained there, behind the sets that were
// published. One that is drawn twice stands twice.
func (d *draws) decide(stream *mechanisms.Stream) {
	for i := range d.set {
		d.set[i] = stream.Draw(i*d.elements, (i+1)*d.elements)
	}
}
