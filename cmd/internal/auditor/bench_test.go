package auditor

import (
	"testing"

	"oriel/mechanisms/audit/residual"
)

// BenchmarkFarTails measures two costs: of a draw in the far tails, which limits how far out an audit can look, and of
// a step with background traffic.
func BenchmarkFarTails(b *testing.B) {
	for _, name := range []string{"blt", "tree-gaussian", "tree-laplace"} {
		b.Run("mechanism="+name, func(b *testing.B) {
			a := subject(b, "ORIEL_MECHANISM="+name, "ORIEL_WINDOW=64")
			x, ok := a.widen(0)
			if !ok {
				b.Fatal("not widened")
			}
			play, err := a.wideRuns(x)
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
			a := subject(b, "ORIEL_MECHANISM="+name, "ORIEL_WINDOW=64", "ORIEL_DIMENSION=32")
			x, err := residual.New(a.mechanism, a.calibration, 160)
			if err != nil {
				b.Fatal(err)
			}
			play, err := a.backgroundRuns(x, true)
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
