package arms

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/mechanisms"
	"oriel/operators/elementary"
)

// ucbRule is ucb (SPEC.md §2): it plays the arm with the least lower confidence bound on its mean loss.
type ucbRule struct {
	width float64 // the factor α of the interval's width
	noise deviation
	total uint64 // number of answers of all arms
	arms  []record
}

// record holds the counts and sums of one arm.
type record struct {
	planned uint64  // rounds that have been published
	settled uint64  // rounds that have been released
	answers uint64  // answers in the settled rounds
	sum     float64 // sum of the releases of the settled rounds
}

func newUCB(arms int, width float64, n deviation) *ucbRule {
	return &ucbRule{width: width, noise: n, arms: make([]record, arms)}
}

// next takes each arm once, then an arm without released answers, then the arm with the least index. If several arms
// qualify it takes the first.
func (u *ucbRule) next(*mechanisms.Stream) (int, float64) {
	best, least := 0, math.Inf(1)
	x := float64(u.width * elementary.Log(float64(max(2, u.total))))
	for i := range u.arms {
		a := &u.arms[i]
		if a.planned == 0 {
			best = i
			break
		}
		if index := u.index(a, x); index < least {
			best, least = i, index
		}
	}
	u.arms[best].planned++
	return best, 1
}

// unknown is the distance by which the index of an arm without answers lies below all means. Adding a number of rounds
// to it is exact in float64.
const unknown = 1e15

// index is a lower bound on the mean loss of an arm that fails with probability e^{−x}: the least mean c from which the
// arm's mean m is not too far,
//
//	N·(m − c) ≤ √(2·(N·V + R·σ²)·x) + τ·x,   V = the largest ¼ − y² with y in [c, m]
//
// for N answers in R rounds (SPEC.md, Lemma 1). An arm without an answer has an index below all arms with answers.
// Among arms without an answer, the arm planned least often has the lowest index.
func (u *ucbRule) index(a *record, x float64) float64 {
	if a.answers == 0 {
		return float64(a.planned) - unknown
	}
	n, rounds := float64(a.answers), float64(a.settled)
	noise, tail := float64(rounds*u.noise.variance), float64(u.noise.tail*x)
	if s := x / rounds; s < 1 { // of so many rounds of Laplace noise the tail is nearly normal
		tail = float64(tail * (1 + s/elementary.Log(1-s)) / math.Sqrt(s))
	}
	m := min(largest, a.sum/n)
	far := func(variance float64) float64 { // the largest N·(m − c) if V is this variance
		return math.Sqrt(float64(float64(2*(float64(n*variance)+noise))*x)) + tail
	}
	if m <= 0 { // V is at m
		return m - far(max(0, 0.25-float64(m*m)))/n
	}
	if c := m - far(0.25)/n; c <= 0 { // V is at 0
		return c
	}
	// V is at c, so that d = m − c is the larger root of (N·d − τ·x)² = 2x·(N·(¼ − (m − d)²) + R·σ²).
	square := n + float64(2*x)
	half := tail + float64(float64(2*x)*m)
	rest := float64(tail*tail)/n - float64(float64(2*x)*(0.25-float64(m*m)+noise/n))
	return m - (half+math.Sqrt(max(0, float64(half*half)-float64(square*rest))))/square
}

func (u *ucbRule) learn(arm int, _ float64, answers int, sum float64) {
	a := &u.arms[arm]
	a.settled++
	if answers == 0 {
		return // the round has no answers, so that its release is only noise
	}
	a.answers, a.sum = a.answers+uint64(answers), a.sum+sum
	u.total += uint64(answers)
}

func (u *ucbRule) StateLen() int { return 8 + 32*len(u.arms) }

func (u *ucbRule) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, u.total)
	for _, a := range u.arms {
		for _, x := range [...]uint64{a.planned, a.settled, a.answers, math.Float64bits(a.sum)} {
			dst = binary.LittleEndian.AppendUint64(dst, x)
		}
	}
	return dst
}

func (u *ucbRule) Restore(state []byte) error {
	arms, total := make([]record, len(u.arms)), uint64(0)
	for i := range arms {
		at := func(k int) uint64 { return binary.LittleEndian.Uint64(state[8+32*i+8*k:]) }
		a := record{planned: at(0), settled: at(1), answers: at(2), sum: math.Float64frombits(at(3))}
		if a.settled > a.planned || math.IsNaN(a.sum) || math.IsInf(a.sum, 0) || a.answers > 1<<53 || a.planned > 1<<53 {
			return errors.New("arms: state: the counts of an arm are impossible")
		}
		arms[i], total = a, total+a.answers
	}
	if binary.LittleEndian.Uint64(state) != total {
		return errors.New("arms: state: answers do not add up")
	}
	u.arms, u.total = arms, total
	return nil
}
