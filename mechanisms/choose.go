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

// Exponential is the exponential mechanism: index i with probability proportional to e^(ε·q_i/(2Δ)) (McSherry and
// Talwar, "Mechanism Design via Differential Privacy", FOCS 2007, Definition 3.1 and Theorem 3.3).
//
// One draw is ε-DP, when the exchange of a unit moves each score by Δ at most. Scores that one exchange moves by Δ at
// most, and all in one direction, may say Δ/2. It is also ε-bounded range, and so ε²/8-zCDP: dp.ExponentialRho.
type Exponential struct {
	Epsilon     Ratio // ε of one draw
	Sensitivity Ratio // Δ, of each score, in units of scores
}

// ByLogs is the law that draws i with a probability proportional to e^(score_i·2^−bits), bits at least 1: of scores
// that are functions of releases and of public data alone, so that a draw costs nothing.
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

// Choose draws an index of scores by the exponential mechanism, exactly: integers decide, and every machine draws the
// same. The draw's seed comes from the chain after it has absorbed the last record and these scores, so that one
// history has one draw, a replay repeats it, and no seed is used twice. instance tells the draws of a step apart for
// people; draws with equal ones are apart too.
//
// A draw is a release of its own: Guarantee does not know of it. Whoever calls Choose accounts, for each unit of
// privacy, every draw whose scores the unit can move, with the sums' own loss: Total.AddPure(law.Epsilon.Up()) a
// draw, or Total.AddRho(dp.ExponentialRho(law.Epsilon.Up())), which for many draws is less; for as many draws as the
// history has in which the unit moves most of them. That holds at event and at user level (dp/PROOF.md, Lemma 6).
// A stream of ExponentialMechanism accounts its own, and it releases no sum; no other machine may draw by scores that
// depend on events beside releases.
//
// The scores have to be functions of absorbed records, of releases and of public data. How many scores there are, the
// law, and whether a step draws at all have to be functions of releases and of public data alone: that an index exists
// would tell what no ε covers. How long a draw takes depends on the scores.
//
// It panics when law is not valid, when there are no scores, and, as Add does, behind the horizon: see Ended.
func (s *Stream) Choose(instance uint16, scores []int64, law Exponential) int {
	if err := law.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	if len(scores) == 0 {
		panic("BUG: mechanisms: choice among no scores")
	}
	if s.Ended() {
		panic(fmt.Sprintf("BUG: mechanisms: a draw behind the horizon of %d steps", s.end))
	}
	return s.choose(instance, scores, law)
}

// choose is Choose by a valid law, also after the last step.
func (s *Stream) choose(instance uint16, scores []int64, law Exponential) int {
	e, d := law.Epsilon, law.Sensitivity
	seed := s.chain.Draw(s.Step(), s.place, instance, [4]uint64{e.Num, e.Den, d.Num, d.Den}, scores)
	w, best := s.choices, slices.Max(scores)
	w.gaps = w.gaps[:0]
	for _, q := range scores {
		w.gaps = append(w.gaps, uint64(best)-uint64(q)) // also where the difference is above 2⁶³
	}
	if law != w.law {
		w.law, w.num, w.den = law, product(e.Num, d.Den), product(2, e.Den, d.Num)
	}
	drawn := w.Choose(seed, w.gaps, w.num, w.den)
	if s.draws == nil || s.draws.by == nil {
		return drawn
	}
	return s.draws.by(Draw{Step: s.Step(), Place: s.place, Instance: instance, Law: law, Scores: scores}, drawn)
}

// drawScratch are what draws of all streams of an opened mechanism work in.
type drawScratch struct {
	noise.Chooser
	gaps     []uint64
	law      Exponential // of num and den, those of the last draw
	num, den *big.Int
}

// Draw is a call of Choose.
type Draw struct {
	Step     uint64 // closed steps before it
	Place    uint32 // records of the open batch before it
	Instance uint16
	Law      Exponential
	Scores   []int64 // the caller's, valid during the call
}

// DrawBy lets a function decide what Choose returns, for audits and tests, which play draws again: it is told what the
// exponential mechanism has drawn. The chain goes on as without it. nil ends it.
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
