package race

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
)

// law returns the mean and the standard deviation of a label, given the position in the stream, from 0 to 1, and the
// features.
type law func(part float64, x []float64, rng *rand.Rand) (mean, deviation float64)

// bandStreams are streams of labels that a band must cover: labels as the model assumes, noise that grows along a
// feature, a jump in the middle, drift, labels far beyond the first band, and two classes, whose bands are sets.
var bandStreams = map[string]law{
	"steady": func(float64, []float64, *rand.Rand) (float64, float64) { return 0, 0.2 },
	"heteroscedastic": func(_ float64, x []float64, _ *rand.Rand) (float64, float64) {
		return 0, 0.1 + 0.4*math.Abs(x[1])
	},
	"a jump": func(part float64, _ []float64, _ *rand.Rand) (float64, float64) {
		return 0.5 * math.Floor(2*part), 0.15 + 0.15*math.Floor(2*part)
	},
	"drifting": func(part float64, _ []float64, _ *rand.Rand) (float64, float64) {
		return 0.5 * math.Sin(6*part), 0.25 + 0.1*math.Cos(4*part)
	},
	"far": func(_ float64, _ []float64, rng *rand.Rand) (float64, float64) {
		return math.Copysign(1.8, rng.Float64()-0.5), 0.1
	},
	"skewed": func(_ float64, _ []float64, rng *rand.Rand) (float64, float64) {
		return 0.3 * rng.ExpFloat64(), 0.02
	},
}

func bandLines(n int, classes bool, of law) (l lines) {
	rng := rand.New(rand.NewPCG(31, 2))
	for i := range n {
		x := []float64{0.7, 0.5 * rng.NormFloat64(), 0.5 * rng.NormFloat64()}
		norm := math.Sqrt(x[0]*x[0] + x[1]*x[1] + x[2]*x[2])
		for k := range x {
			x[k] /= norm
		}
		mean, deviation := of(float64(i)/float64(n), x, rng)
		y := min(max(0.4*x[1]-0.3*x[2]+mean+deviation*rng.NormFloat64(), -2), 2)
		if classes {
			y = math.Copysign(1, y)
		}
		l = append(l, fmt.Sprintf(`{"features":[%v,%v,%v],"label":%v}`, x[0], x[1], x[2], y))
	}
	return l
}

// TestBandsHoldOnEveryStream checks on streams of all kinds that bands cover the share of labels given by their level.
// They must be about as wide as without privacy, although the model has noise. The long form requires 0.9 ± 0.01 of 10⁵
// events at ε = 1 for life. The short form has longer steps and few events.
func TestBandsHoldOnEveryStream(t *testing.T) {
	n, slack := tiertest.Runs(5000, 100_000), tiertest.Runs(0.025, 0.01)
	more := tiertest.Runs([]string{"ORIEL_EPSILON=8", "ORIEL_BAND_STEP=0.01"}, []string{"ORIEL_EPSILON=1"})
	names := []string{"heteroscedastic"}
	if tiertest.Runs(false, true) {
		names = slices.Sorted(maps.Keys(bandStreams))
	}
	for _, name := range names {
		of := bandStreams[name]
		for _, classes := range []bool{false, true} {
			given := append([]string{
				"ORIEL_BAND=0.9", "ORIEL_FEATURES_MAX=1", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=16384",
				"ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_START_REGULARIZER=100",
			}, more...)
			if !classes {
				given = append(given, "ORIEL_LOSS=squared", "ORIEL_RADIUS=2", "ORIEL_BAND_RANGE=-2:2", "ORIEL_CLIP=0.3")
			}
			r := evaluate(t, eval.Input{Settings: []settings.Settings{load(t, given...)}}, bandLines(n, classes, of))
			private, bare := r.Rows[0], r.Rows[1]
			t.Logf("%s, classes %v: %.4f within, %.4f without noise; width %.3f, %.3f", name, classes, private.Within.Mean,
				bare.Within.Mean, private.Width.Mean, bare.Width.Mean)
			if math.Abs(float64(private.Within.Mean)-0.9) > slack {
				t.Errorf("%s, classes %v: %.4f of all events are within", name, classes, private.Within.Mean)
			}
			if most := tiertest.Runs(1.15, 1.06); float64(private.Width.Mean) > most*float64(bare.Width.Mean) {
				t.Errorf("%s, classes %v: width %.3f, without noise %.3f", name, classes, private.Width.Mean, bare.Width.Mean)
			}
			base := r.Rows[2]
			if base.Within.Mean.Known() || base.WithinStretch != nil || len(private.WithinStretch) != Stretches {
				t.Errorf("%s: the base rate has a band, or others have none by stretch", name)
			}
		}
	}
}

// TestBandsInATable checks how reports print bands.
func TestBandsInATable(t *testing.T) {
	s := load(t, "ORIEL_BAND=0.9", "ORIEL_FEATURES_MAX=1", "ORIEL_EPSILON=40")
	r := evaluate(t, eval.Input{Settings: []settings.Settings{s}}, bandLines(200, true, bandStreams["steady"]))
	var text strings.Builder
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"within band", "band width", "ORIEL_BAND is 0.9"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestBandsHoldOnFlights checks bands on the demo's flights at ε = 1 for life. The share within must be 0.9 ± 0.01, the
// width at most 1.05 times the width without noise, and the model's loss at most 1.005 times the loss of a model
// without a band.
func TestBandsHoldOnFlights(t *testing.T) {
	tiertest.Slow(t, "TestBandsHoldOnEveryStream")
	for _, classes := range []bool{false, true} {
		var flights lines
		repotest.EachDemoFlight(t, func(column func(name string) string, late float64) {
			if classes {
				late = math.Copysign(1, late-15.5)
			}
			flights = append(flights, fmt.Sprintf(`{"features":{"carrier":%q,"origin":%q,"hour":%s,"distance":%s},"label":%v}`,
				column("carrier"), column("origin"), column("hour"), column("distance"), late))
		})
		given := []string{
			"ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=5.8e-5", "ORIEL_START_REGULARIZER=58", "ORIEL_EPSILON=1",
			"ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime",
			"ORIEL_MEMORY=65536",
		}
		band := []string{"ORIEL_BAND=0.9"}
		if !classes {
			given = append(given, "ORIEL_LOSS=squared", "ORIEL_RADIUS=240", "ORIEL_CLIP=60", "ORIEL_STRONG_CONVEXITY=0.01",
				"ORIEL_START_REGULARIZER=100")
			band = append(band, "ORIEL_BAND_RANGE=-60:180")
		}
		with := evaluate(t, eval.Input{Seeds: 3, Settings: []settings.Settings{load(t, append(band, given...)...)}}, flights)
		without := evaluate(t, eval.Input{Seeds: 3, Settings: []settings.Settings{load(t, given...)}}, flights)
		private, bare := with.Rows[0], with.Rows[1]
		t.Logf("classes %v: %.4f (%.4f) within, %.4f without noise; width %.3f, %.3f; loss %.5f, %.5f without a band", classes,
			private.Within.Mean, private.Within.Worst, bare.Within.Mean, private.Width.Mean, bare.Width.Mean, private.Loss.Mean,
			without.Rows[0].Loss.Mean)
		if math.Abs(float64(private.Within.Worst)-0.9) > 0.01 || private.Width.Mean > 1.05*bare.Width.Mean ||
			private.Loss.Mean > 1.005*without.Rows[0].Loss.Mean {
			t.Errorf("classes %v: not what is claimed", classes)
		}
	}
}
