package mechanisms

// Loss returns the µ or ε of one window, which Guarantee compares with the budget.
func Loss(p Calibration, c Config) float64 {
	kind, _ := definitionOf(p.Name)
	loss, _ := p.loss(c, kind)
	return loss
}

// LastSumLen returns the length of the last sum's state.
func LastSumLen(s *Stream) int { return s.sums[len(s.sums)-1].StateLen() }
