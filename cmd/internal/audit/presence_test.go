package audit

import (
	"bytes"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/attack"
	"oriel/cmd/internal/audit/overpaid"
	"oriel/mechanisms"
	"oriel/mechanisms/noise"
)

// byClock are settings of steps by the clock at event level and, with a user, for a user's period.
func byClock(more ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_STEP=1h", "ORIEL_STREAM=topic", "ORIEL_MECHANISM=once-gaussian",
		"ORIEL_CELLS=hour=0:24:3", "ORIEL_VALUE=delay=-60:180", "ORIEL_STATISTICS=count,mean",
	}, more...)
}

var threeOfADay = []string{"ORIEL_USER_ID=key", "ORIEL_USER_PERIOD=1d", "ORIEL_USER_EVENTS=3"}

// TestPresenceIsAttacked audits steps by the clock. All events of a unit are present in one stream and absent in the
// other, in one step. The canary must reach the claim, and no check may refute an honest machine.
func TestPresenceIsAttacked(t *testing.T) {
	for name, lines := range map[string][]string{"event": byClock(), "user-period": byClock(threeOfADay...)} {
		a := subjectOf(t, lines...)
		reachesClaim(t, a, 0.999, name)
		var text, object bytes.Buffer
		r := honest(t, a)
		if err := r.Print(&text); err != nil {
			t.Fatal(err)
		}
		if err := r.PrintJSON(&object); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"once-gaussian, no window", "steps by the clock", "adjacency add-remove, unit " + name,
		} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: no %q in\n%s", name, want, text.String())
			}
		}
		if !strings.Contains(object.String(), `"verdict": "not refuted"`) {
			t.Errorf("%s: %s", name, object.String())
		}
		if moves := overpaid.Components(a.WholeMechanism, a.DeployedOperator); len(moves) > 0 {
			t.Errorf("%s: pays for more than an event moves: %+v", name, moves)
		}
	}
}

// TestPresenceIsBounded checks that runs bound the loss of presence from below, near the claim and never above it.
func TestPresenceIsBounded(t *testing.T) {
	boundsItsReach(subjectOf(t, byClock(threeOfADay...)...), t, 1)
}

// TestNoiseForOneEventOfSeveralIsRefuted audits noise for one event of a user under the claim of three.
func TestNoiseForOneEventOfSeveralIsRefuted(t *testing.T) {
	a, one := subjectOf(t, byClock(threeOfADay...)...), subjectOf(t, byClock()...)
	if law := lawUnder(a, t, one.Calibration); !(law.Reach() > 2.9*a.Guarantee.Mu) {
		t.Errorf("noise for one event: three reach %g, claimed %g", law.Reach(), a.Guarantee.Mu)
	}
}

// ofPersons are settings of persons in at most m cells.
func ofPersons(mechanism, m string) []string {
	return []string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_STEP=1h", "ORIEL_STREAM=topic", "ORIEL_MECHANISM=" + mechanism,
		"ORIEL_CELLS=hour=0:24:3,carrier=AA|UA", "ORIEL_ELSEWHERE=other", "ORIEL_STATISTICS=persons",
		"ORIEL_PERSON_CELLS=" + m, "ORIEL_USER_ID=key", "ORIEL_USER_PERIOD=1d", "ORIEL_EPSILON=1",
	}
}

// TestPresenceOfAPersonIsAttacked audits persons by cell. All events of a person are present in one stream and absent
// in the other, in m cells of one step. The canary must reach the claim and never exceed it, for both norms.
func TestPresenceOfAPersonIsAttacked(t *testing.T) {
	for _, mechanism := range []string{"once-laplace", "once-gaussian"} {
		for _, m := range []string{"1", "2", "4"} {
			a := subjectOf(t, ofPersons(mechanism, m)...)
			reachesClaim(t, a, 0.9, mechanism+", m = "+m)
			if moves := overpaid.Components(a.WholeMechanism, a.DeployedOperator); len(moves) > 0 {
				t.Errorf("%s, m = %s: pays for more than an event moves: %+v", mechanism, m, moves)
			}
		}
	}
	boundsItsReach(subjectOf(t, ofPersons("once-laplace", "2")...), t, 1)
	boundsItsReach(subjectOf(t, ofPersons("once-gaussian", "4")...), t, 1)
}

// TestNoiseForTooFewCellsIsRefuted audits noise for a person in one cell under the claim of a person in four.
func TestNoiseForTooFewCellsIsRefuted(t *testing.T) {
	for mechanism, factor := range map[string]float64{"once-laplace": 4, "once-gaussian": 2} {
		a, one := subjectOf(t, ofPersons(mechanism, "4")...), subjectOf(t, ofPersons(mechanism, "1")...)
		reach, claim := lawUnder(a, t, one.Calibration).Reach(), claimed(a)
		if reach < 0.99*factor*claim || reach > 1.01*factor*claim {
			t.Errorf("%s: noise for one cell: four reach %g, claimed %g", mechanism, reach, claim)
		}
	}
}

// none is a sampler of no noise.
type none struct{}

func (none) Fill(dst []int64, _ noise.Seed) { clear(dst) }

// TestEqualDrawsOfDiscreteNoise audits counts with discrete noise of all sizes. Few coordinates, and small noise, often
// have equal draws in two honest runs. Noise that is missing must be found, unless it would be 0 nearly always.
func TestEqualDrawsOfDiscreteNoise(t *testing.T) {
	for _, epsilon := range []string{"0.1", "1", "4", "20"} {
		for _, cells := range []string{"a=x|y", "hour=0:24:24"} {
			a := subjectOf(t, "ORIEL_OPERATOR=aggregate", "ORIEL_STEP=1h", "ORIEL_STREAM=topic", "ORIEL_MECHANISM=once-laplace",
				"ORIEL_CELLS="+cells, "ORIEL_DELTA=0", "ORIEL_EPSILON="+epsilon)
			if err := honest(t, a).Verdict(); err != nil {
				t.Errorf("ε = %s, %s: %v", epsilon, cells, err)
			}
			a.Stream = func(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
				sums, err := p.SumsOver(c, none{})
				if err != nil {
					return nil, err
				}
				return mechanisms.NewStream(c, p, key, sums...)
			}
			check, err := attack.Repetition(a)
			if err != nil || check.Holds != (epsilon == "20" || epsilon == "4" && cells == "a=x|y") {
				t.Errorf("ε = %s, %s: no noise: %+v, %v", epsilon, cells, check, err)
			}
		}
	}
}

// TestWholeNumbersAreAudited audits once-laplace with steps of whole counts and bins, coarser than the scale of
// the noise. Residuals are tested, and no check refutes an honest machine.
func TestWholeNumbersAreAudited(t *testing.T) {
	r := honest(t, subjectOf(t, byClock("ORIEL_MECHANISM=once-laplace", "ORIEL_DELTA=", "ORIEL_STATISTICS=count,mean,p50",
		"ORIEL_BINS=4")...))
	var text bytes.Buffer
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"once-laplace, no window", "counts in 32 cells", "noise after the least change"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
