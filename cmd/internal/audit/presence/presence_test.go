package presence_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"oriel/cmd/internal/audit/presence"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

const alpha = 1e-6 // the false-rejection probability of each bound

func config(mechanism string, epsilon, delta float64, m uint64) mechanisms.Config {
	return mechanisms.Config{
		Name: mechanism, Contribution: contribution.OfNames(256), Budget: dp.Budget{Epsilon: epsilon, Delta: delta},
		Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.UserPeriod{PeriodSteps: 24, Values: m}},
	}
}

// opened returns a stream under a claim, with the calibration's sampler or another one.
func opened(t *testing.T, c mechanisms.Config, sampler noise.Sampler) *presence.Stream {
	t.Helper()
	p := mechtest.Plan(t, c)
	m, err := mechanisms.NewMechanism(c, p)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := p.SumsOver(c, sampler)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.OpenOver([32]byte{1, byte(len(c.Name))}, sums...)
	if err != nil {
		t.Fatal(err)
	}
	return &presence.Stream{Stream: s, Random: rand.New(rand.NewPCG(1, 2))}
}

// TestAuditOfNamesReachesTheClaim attacks honest streams: the bounds reach 0.9 of the claim, for lonely and for shared
// names, of one name and of several, and never exceed it.
func TestAuditOfNamesReachesTheClaim(t *testing.T) {
	for _, c := range []mechanisms.Config{
		config("once-laplace", 1, 2e-3, 1), config("once-laplace", 1.6, 2e-3, 2), config("once-laplace", 3, 1e-6, 3),
		config("once-gaussian", 3, 0.02, 1), config("once-gaussian", 3, 0.02, 3),
	} {
		s := opened(t, c, nil)
		units := tiertest.Runs(15_000, 60_000)
		shared := s.Shared(units, time.Time{}, alpha)
		if !shared.Holds || shared.Least < tiertest.Runs(0.85, 0.9)*shared.Claim || shared.Count != uint64(units) {
			t.Errorf("%s, %+v: %+v", c.Name, c.Budget, shared)
		}
		g, names := s.Guarantee(), tiertest.Runs(600_000, 3_000_000)
		lonely := s.Lonely(names, time.Time{}, alpha)
		if !lonely.Holds || lonely.Count != uint64(names) {
			t.Errorf("%s, %+v: %+v", c.Name, c.Budget, lonely)
		}
		// The rate of the claim, less a tenth, must be refuted: so the attack reaches 0.9 of it.
		if s := opened(t, c, nil); g.Told > 1e-3 {
			low := 0.9 * g.Told / float64(g.Unit.StepEvents())
			if passed := passing(s, names); float64(passed) < low*float64(names) {
				t.Errorf("%s, %+v: %d of %d pass, want %g", c.Name, c.Budget, passed, names, low*float64(names))
			}
		}
	}
}

// passing returns how many of the names of single persons pass.
func passing(s *presence.Stream, names int) (passed int) {
	for i := range names {
		s.AddName(noise.Identity{Topic: [16]byte{9}, Offset: int64(i)}, []byte{byte(i), byte(i >> 8), byte(i >> 16)})
	}
	s.Close()
	return len(s.Listed())
}

// scaled draws the noise of a sampler, divided by 2.
type scaled struct{ noise.Sampler }

func (s scaled) Fill(dst []int64, seed noise.Seed) {
	s.Sampler.Fill(dst, seed)
	for i := range dst {
		dst[i] /= 2
	}
}

// shifted draws the noise of a sampler, plus 1: names of single persons pass as if the threshold were one less.
type shifted struct{ noise.Sampler }

func (s shifted) Fill(dst []int64, seed noise.Seed) {
	s.Sampler.Fill(dst, seed)
	for i := range dst {
		dst[i]++
	}
}

// repeated gives all names of a step the same draw.
type repeated struct{ noise.Sampler }

func (s repeated) Fill(dst []int64, seed noise.Seed) {
	s.Sampler.Fill(dst, seed)
	for i := range dst {
		dst[i] = dst[0]
	}
}

// TestFaultsInNamesAreRefuted plants noise of half the size, a threshold that is one less, and noise that is for one of
// three names.
func TestFaultsInNamesAreRefuted(t *testing.T) {
	c := config("once-laplace", 1, 0.02, 1)
	sampler, err := noise.NewTruncated(noise.Scale{Mant: 1}, mechtest.Plan(t, c).Threshold-1)
	if err != nil {
		t.Fatal(err)
	}
	if r := opened(t, c, scaled{sampler}).Shared(20_000, time.Time{}, alpha); r.Holds {
		t.Errorf("half of the noise: %+v", r)
	}
	if r := opened(t, c, shifted{sampler}).Lonely(200_000, time.Time{}, alpha); r.Holds {
		t.Errorf("a threshold one less: %+v", r)
	}
	three := config("once-laplace", 1, 0.02, 3)
	if r := opened(t, three, sampler).Shared(20_000, time.Time{}, alpha); r.Holds {
		t.Errorf("noise for one of three names: %+v", r)
	}
	once := opened(t, config("once-laplace", 1, 0.02, 1), repeated{sampler})
	if r, past := once.Lonely(1_000_000, time.Now(), alpha), uint64(200_000); r.Count != past {
		t.Errorf("beyond its deadline: %+v", r)
	}
}
