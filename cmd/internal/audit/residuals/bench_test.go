package residuals

import (
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/audit/residual"
)

// BenchmarkFarTails measures two costs: of a draw in the far tails, which limits how far out an audit can look, and of
// a step with background traffic.
func BenchmarkFarTails(b *testing.B) {
	for _, name := range []string{"blt", "tree-gaussian", "tree-laplace"} {
		b.Run("mechanism="+name, func(b *testing.B) {
			a := cocoSubject(b, "ORIEL_MECHANISM="+name, "ORIEL_WINDOW=64", "ORIEL_DIMENSION=4")
			x, ok := Widen(a, 0)
			if !ok {
				b.Fatal("not widened")
			}
			play, err := wideRuns(a, x)
			if err != nil {
				b.Fatal(err)
			}
			draws := 0
			for number := uint64(0); b.Loop(); number++ {
				run, err := play(number)
				if err != nil {
					b.Fatal(err)
				}
				draws += int(run.Draws)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(draws), "ns/draw")
		})
	}
}

func BenchmarkBackgroundTraffic(b *testing.B) {
	for _, name := range []string{"blt", "tree-gaussian", "tree-gamma"} {
		b.Run("mechanism="+name, func(b *testing.B) {
			a := cocoSubject(b, "ORIEL_MECHANISM="+name, "ORIEL_WINDOW=64", "ORIEL_DIMENSION=32")
			x, err := residual.New(a.Mechanism, a.Calibration, 160)
			if err != nil {
				b.Fatal(err)
			}
			play, err := player(a, x, true)
			if err != nil {
				b.Fatal(err)
			}
			for number := uint64(0); b.Loop(); number++ {
				if _, err := play(number); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/160, "ns/step")
		})
	}
}

func cocoSubject(b *testing.B, more ...string) *subject.Subject {
	b.Helper()
	s, err := settings.Load(append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_EPSILON=20", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1.5", "ORIEL_QUANTILE=0.9",
	}, more...), settings.Events, settings.Operator)
	if err != nil {
		b.Fatal(err)
	}
	a, err := subject.New(s, [32]byte{1}, subject.AllComponents)
	if err != nil {
		b.Fatal(err)
	}
	return a
}
