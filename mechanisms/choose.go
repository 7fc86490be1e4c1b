package mechanisms

import (
	"fmt"
	"math/big"
	"slices"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
)

// Ratio is a positive rational number, Num/Den.
type Ratio struct{ Num, Den uint64 }

// Up returns the ratio rounded up.
func (r Ratio) Up() float64 {
	x := dp.Float().SetMode(big.ToPositiveInf)
	return dp.RoundUp(x.Quo(dp.Float().SetUint64(r.Num), dp.Float().SetUint64(r.Den)))
}

func (r Ratio) valid() bool { return r.Num > 0 && r.Den > 0 }

// Exponential is the exponential mechanism: it draws index i with probability proportional to e^(ε·q_i/(2Δ)) (McSherry
// and Talwar, "Mechanism Design via Differential Privacy", FOCS 2007, Definition 3.1 and Theorem 3.3).
//
// One draw is ε-DP if the exchange of a unit moves each score by at most Δ. If the exchange of a unit moves all scores
// in the same direction, by at most Δ, the caller may state Δ/2 as the sensitivity. A draw is also ε-bounded range, and
// so ε²/8-zCDP: dp.ExponentialRho.
type Exponential struct {
	Epsilon     Ratio // ε of one draw
	Sensitivity Ratio // Δ, sensitivity of each score, in the scores' units
}

// ByLogs returns the law that draws i with a probability proportional to e^(score_i·2^−bits), bits at least 1. It is
// for scores that are functions of only releases and public data, so that a draw costs no privacy.
func ByLogs(bits uint) Exponential {
	return Exponential{Epsilon: Ratio{Num: 1, Den: 1}, Sensitivity: Ratio{Num: 1 << (bits - 1), Den: 1}}
}

// Validate refuses numbers that are not positive.
func (e Exponential) Validate() error {
	if !e.Epsilon.valid() || !e.Sensitivity.valid() {
		return fmt.Errorf("mechanisms: choice: epsilon %d/%d, sensitivity %d/%d: not positive",
			e.Epsilon.Num, e.Epsilon.Den, e.Sensitivity.Num, e.Sensitivity.Den)
	}
	return nil
}

// Choose draws an index of scores by the exponential mechanism. The draw is exact: it uses only integers, and equal on
// every machine. Its seed comes from the key chain after the last record and these scores were absorbed. So a replay of
// the history repeats the draw, and no seed is used twice. instance labels the draws of a step for readers; draws with
// equal instances have different seeds too.
//
// A draw is a release of its own, which Guarantee does not include. For each unit of privacy the caller must add, to
// the loss of the sums, the loss of every draw whose scores the unit can move. That is Total.AddPure(law.Epsilon.Up())
// per draw, or Total.AddRho(dp.ExponentialRho(law.Epsilon.Up())), which is smaller for many draws. The number of draws
// is the largest number that one unit can move in any history. That holds at event and at user level (dp/PROOF.md,
// Lemma 6). A stream of ExponentialMechanism accounts for its own draws, and it releases no sum. Any other machine must
// draw by scores that depend on events only through releases.
//
// The scores must be functions of absorbed records, releases and public data. The number of scores, the law, and
// whether a step draws at all must be functions of only releases and public data, because otherwise the existence of an
// index would reveal data that no ε covers. The time of a draw depends on the scores.
//
// Choose panics if law is invalid, if there are no scores, and after the horizon (see Ended), as Add does.
func (s *Stream) Choose(instance uint16, scores []int64, law Exponential) int {
	if err := law.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	if len(scores) == 0 {
		panic("BUG: mechanisms: choice among no scores")
	}
	if s.Ended() {
		panic(fmt.Sprintf("BUG: mechanisms: a draw after the horizon of %d steps", s.end))
	}
	return s.choose(instance, scores, law)
}

// choose is Choose for a law that was checked. It also works after the last step.
func (s *Stream) choose(instance uint16, scores []int64, law Exponential) int {
	e, d := law.Epsilon, law.Sensitivity
	seed := s.chain.Draw(s.Step(), instance, [4]uint64{e.Num, e.Den, d.Num, d.Den}, scores)
	w, best := s.choices, slices.Max(scores)
	w.gaps = w.gaps[:0]
	for _, q := range scores {
		w.gaps = append(w.gaps, uint64(best)-uint64(q)) // correct even for differences above 2⁶³
	}
	if law != w.law {
		w.law, w.num, w.den = law, product(e.Num, d.Den), product(2, e.Den, d.Num)
	}
	drawn := w.Choose(seed, w.gaps, w.num, w.den)
	if s.draws == nil || s.draws.by == nil {
		return drawn
	}
	return s.draws.by(Draw{Step: s.Step(), Instance: instance, Law: law, Scores: scores}, drawn)
}

// drawScratch is the working memory for draws, shared by all streams of an opened mechanism.
type drawScratch struct {
	noise.Chooser
	gaps     []uint64
	law      Exponential // the law of num and den, computed at the last draw
	num, den *big.Int
}

// Draw describes one call of Choose.
type Draw struct {
	Step     uint64 // number of closed steps before the draw
	Instance uint16
	Law      Exponential
	Scores   []int64 // owned by the caller, valid during the call
}

// DrawBy replaces the result of Choose by the result of choose, which also gets the index that the exponential
// mechanism drew. It is for audits and tests that replay draws. The key chain continues as without DrawBy. nil restores
// Choose.
func (s *Stream) DrawBy(choose func(d Draw, drawn int) int) {
	if s.draws == nil {
		s.draws = &drawState{}
	}
	s.draws.by = choose
}

func product(factors ...uint64) *big.Int {
	x := big.NewInt(1)
	for _, f := range factors {
		x.Mul(x, new(big.Int).SetUint64(f))
	}
	return x
}
