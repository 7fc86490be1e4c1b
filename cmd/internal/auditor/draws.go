package auditor

import (
	"cmp"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/residual"
)

// recordedDraw is a call of Stream.Choose with the index that it returned.
type recordedDraw struct {
	mechanisms.Draw
	index int
}

// observe makes choose decide the draws of the player's streams; with nil the mechanism decides them.
func (p *player) observe(choose func(d mechanisms.Draw, index int) int) {
	for _, s := range p.streams {
		s.DrawBy(choose)
	}
}

// scriptedDraws repeats the recorded draws of a run, in order, over other events. The time, the distribution and the
// number of scores of each draw must be the same. Scores may differ only if the guarantee covers draws.
type scriptedDraws struct {
	draws    []recordedDraw
	next     int
	fault    string
	affected bool // scores depend on events, not only on releases and earlier draws
}

func (s *scriptedDraws) choose(d mechanisms.Draw, _ int) int {
	if s.next == len(s.draws) {
		s.fault = "a draw that the run had not"
		return 0
	}
	original := s.draws[s.next]
	s.next++
	if original.Step != d.Step || original.Place != d.Place || original.Instance != d.Instance || original.Law != d.Law ||
		len(original.Scores) != len(d.Scores) {
		s.fault = "another draw than the run had: at another place, by another law or among another number of scores"
		return 0
	}
	s.affected = s.affected || !slices.Equal(original.Scores, d.Scores)
	return original.index
}

// end returns what is wrong after the run, for example missing draws, or "".
func (s *scriptedDraws) end() string {
	if s.fault == "" && s.next < len(s.draws) {
		return "a draw is left out that the run had"
	}
	return s.fault
}

// drawTest tests whether draws follow the exponential mechanism. It orders indices by score, best first, and computes
// the value of the distribution function at the drawn index. This value is uniform on [0, 1] if the jump of the
// function at the drawn index is replaced by a random share of the jump.
func (a *Subject) drawTest(draws []recordedDraw) residual.Test {
	rng, normals := a.random("places of draws", 0), make([]float64, 0, len(draws))
	for _, d := range draws {
		normals = append(normals, math.Sqrt2*math.Erfinv(2*d.place(rng.Float64())-1))
	}
	return residual.Normals("draws", "indices drawn, by their scores", "draw", normals)
}

// place returns the probability of all indices with a better score, plus share times the probability of the drawn
// index.
func (d recordedDraw) place(share float64) float64 {
	order, best := make([]int, len(d.Scores)), slices.Max(d.Scores)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d.Scores[j], d.Scores[i]) })
	rate := float64(d.Law.Epsilon.Num) / float64(d.Law.Epsilon.Den) / 2 *
		float64(d.Law.Sensitivity.Den) / float64(d.Law.Sensitivity.Num)
	before, own, total := 0.0, 0.0, 0.0
	for _, i := range order {
		weight := math.Exp(-rate * (float64(best) - float64(d.Scores[i])))
		if i == d.index {
			before, own = total, weight
		}
		total += weight
	}
	return (before + share*own) / total
}

// clone returns the draw with a copy of its scores.
func clone(d mechanisms.Draw, index int) recordedDraw {
	d.Scores = slices.Clone(d.Scores)
	return recordedDraw{Draw: d, index: index}
}
