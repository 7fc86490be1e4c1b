package replay_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/replay"
	"oriel/mechanisms"
	"oriel/schemas/decision"
)

// TestAThresholdFollowsADriftingStream checks a threshold learned from events that have only a label. It must stay near
// the 0.75-quantile of labels whose distribution moves up and down. The test covers everything from the bytes of events
// to the bytes of decisions, with privacy.
//
// Labels are c_t + U_t with U_t uniform on [−1, 1], so the quantile is q_t = c_t + ½ and, for x within 1 of c_t, the
// mean of the gradient at x is (x − q_t)/2. With λ₀ = K and other regularisers negligible, x_{t+1} = −(g_t + ν_t)/K, so
// e_t = x_t − q_t satisfies
//
//	e_{t+1} = (1 − a)·e_t − ξ_t/K − (ν_t − ν_{t−1})/K − (q_{t+1} − q_t),    a = 1/(2K),
//
// with martingale differences ξ_t of range 1. The three last terms are bounded one by one. The drift δ adds at most δ/a
// = 2Kδ. The noise adds, by summation by parts, at most 2·max|ν|/K. If E is the plan's bound at p/T, then |ν_t| ≤ E at
// all T steps except with probability p. The squared weights in Σ(1−a)^k·ξ sum to less than 1/a = 2K. So Σ(1−a)^k·ξ
// exceeds √(K·ln(2T/p)) at one of T steps with probability p at most (Hoeffding). While the total stays below ½, x_t
// stays within 1 of c_t, where the formula of the mean holds.
func TestAThresholdFollowsADriftingStream(t *testing.T) {
	const (
		steps, turn = 40_000, 20_000
		damping     = 2000.0 // K = λ₀
		drift       = 5e-5   // δ, drift of the quantile a step
		alarm       = 1e-9   // p, probability that a correct program fails the test
	)
	s := decisiontest.Load(t, "OPERATOR=coco", "MECHANISM=blt", "EPSILON=4", "DELTA=1e-6", "CLIP=1",
		"WINDOW=1024", "LOSS=quantile",
		"QUANTILE=0.75", "DIMENSION=1", "UPDATE=projection", "SET=l2-ball", "RADIUS=100", "STRONG_CONVEXITY=1e-12",
		fmt.Sprintf("START_REGULARIZER=%g", damping))
	c := mechanismOf(t, s)
	c.Failure = alarm / steps
	bounded, err := mechanisms.Calibrate(c)
	if err != nil {
		t.Fatal(err)
	}
	lag, noise := 2*damping*drift, 2*bounded.ErrorBound/damping
	chance := math.Sqrt(damping*math.Log(2*steps/alarm)) / damping
	tolerance := lag + noise + chance + 1e-6 // the last term covers rounding to the lattice, and the other regulariser
	t.Logf("tolerance %.3f: drift %.3f, noise %.3f, chance %.3f", tolerance, lag, noise, chance)
	if tolerance > 0.5 {
		t.Fatalf("tolerance %g: the mean of the gradient is another beyond ½", tolerance)
	}

	rng := rand.New(rand.NewPCG(17, 4))
	quantiles := make([]float64, steps+1)
	var events bytes.Buffer
	for i := range steps {
		centre := drift*float64(turn-max(i-turn, turn-i)) - 0.5
		quantiles[i] = centre + 0.5
		fmt.Fprintf(&events, "{\"label\":%.17g}\n", centre+2*rng.Float64()-1)
	}
	quantiles[steps] = quantiles[steps-1]
	o := replay.Options{Seed: hex.EncodeToString(bytes.Repeat([]byte{9}, 32))}
	out := decisiontest.Replay(t, decisiontest.Model(t, s), o, events.Bytes())

	worst, lowest, highest, count := 0.0, math.Inf(1), math.Inf(-1), 0
	for line := range bytes.Lines(out) {
		d, err := decision.Parse(bytes.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		count++
		x := d.Point[0]
		worst = max(worst, math.Abs(x-quantiles[d.Step]))
		lowest, highest = min(lowest, x), max(highest, x)
	}
	t.Logf("at most %.3f away, decisions from %.3f to %.3f", worst, lowest, highest)
	if count != steps || worst > tolerance {
		t.Errorf("%d decisions, one is %g from the quantile: beyond %g", count, worst, tolerance)
	}
	if moved := drift * turn; highest-lowest < moved-2*tolerance || moved < 2*tolerance {
		t.Errorf("decisions move by %g, the quantile by %g", highest-lowest, moved)
	}
}
