package linucb

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/operators/optest"
)

// allowances are the delays in minutes that the bandit can allow for. A minute of allowance costs a tenth of a minute
// of delay beyond the allowance.
var allowances = []float64{0, 10, 20, 30, 45, 60, 90, 120}

// allowing is the problem of choosing an allowance. The cost of an allowance plus the delay beyond it, up to 60, is
// mapped to a reward in [0, 1].
var allowing = problem{
	context: func(f flight) []float64 { return f.when },
	reward: func(f flight, arm int) float64 {
		minutes := allowances[arm]
		return 1 - min(60, 0.1*minutes+max(0, f.delay-minutes))/60
	},
}

// allowancesOf writes a file of the allowances with their features.
func allowancesOf(t *testing.T, features func(minutes float64) []float64) string {
	t.Helper()
	var file strings.Builder
	for _, m := range allowances {
		file.WriteString(strconv.Itoa(int(m)))
		for _, x := range features(m) {
			file.WriteString(":" + strconv.FormatFloat(x, 'g', -1, 64))
		}
		file.WriteByte('\n')
	}
	return armsFile(t, file.String())
}

// bumps returns features of norm 1 that are large near 0, 25 and 120 minutes respectively.
func bumps(minutes float64) []float64 {
	at := 2 * math.Log1p(minutes/10) / math.Log1p(12)
	phi, norm := make([]float64, 3), 0.0
	for c := range phi {
		phi[c] = math.Exp(-(at - float64(c)) * (at - float64(c)))
		norm += phi[c] * phi[c]
	}
	for c := range phi {
		phi[c] /= math.Sqrt(norm)
	}
	return phi
}

// TestAllowancesOnFlights plays eight allowances on the first 80 000 flights: with separate weights for each allowance,
// with features of equal norm, and with features of different norms:
//
//	go test ./operators/linucb -run TestAllowancesOnFlights -flights flights.csv -timeout 1h -v
func TestAllowancesOnFlights(t *testing.T) {
	if *flightsFile == "" {
		t.Skip("no -flights")
	}
	all := flights(t)[:80000]
	best := 0.0
	for arm := range allowances {
		sum := 0.0
		for _, f := range all {
			sum += allowing.reward(f, arm) / float64(len(all))
		}
		best = max(best, sum)
	}
	t.Logf("the best allowance for all brings %.4f", best)
	names := make([]string, len(allowances))
	for i, m := range allowances {
		names[i] = strconv.Itoa(int(m))
	}
	m := optest.Life(65536)
	m.Budget = dp.Budget{Epsilon: 1, Delta: 1e-6}
	for _, row := range []struct {
		name, arms string
		from, to   float64
	}{
		{"weights of their own", "ARMS=" + strings.Join(names, ","), 0.867, 1},
		{"features of one length", allowancesOf(t, bumps), 0.862, 1},
		{"features of many lengths", allowancesOf(t, func(minutes float64) []float64 {
			return []float64{1, math.Sqrt(minutes / 120), minutes / 120}
		}), 0.81, 0.84},
	} {
		for seed := range byte(2) {
			c, m := config(t, m, row.arms, "PLAYED=logged", "DIMENSION=16", "REWARD_RANGE=0.6:1.1")
			machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{seed, 4}))
			if err != nil {
				t.Fatal(err)
			}
			got := play(machine, all, allowing)
			if t.Logf("%s, seed %d: %.4f", row.name, seed, got); got < row.from || got > row.to {
				t.Errorf("%s: %.4f, want %g to %g", row.name, got, row.from, row.to)
			}
		}
	}
}
