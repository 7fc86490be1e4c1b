package aggregate

import (
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// BenchmarkAdd measures an event over 384 cells, and for comparison a gradient of 32 coordinates over the same
// mechanism.
func BenchmarkAdd(b *testing.B) {
	for _, batch := range []uint64{1, 64} {
		for _, lines := range [][]string{
			{"CELLS=carrier=A|B|C|D|E|F|G|H|I|J|K|L|M|N|O|P,hour=0:24:24"},
			{
				"CELLS=carrier=A|B|C|D|E|F|G|H|I|J|K|L|M|N|O|P,hour=0:24:24", "VALUE=delay=-60:180", "STATISTICS=count,mean*0.3",
				"MEMORIES=64,1024,4096",
			},
			{
				"CELLS=carrier=A|B|C|D|E|F|G|H|I|J|K|L|M|N|O|P,hour=0:24:24", "VALUE=delay=-60:180", "STATISTICS=p50,p90",
				"BINS=32",
				"MEMORIES=64,1024",
			},
		} {
			if batch == 1 && slices.Contains(lines, "BINS=32") {
				continue // drawing 12 288 coordinates for each event would take too long
			}
			b.Run("384 cells, "+strconv.Itoa(len(lines))+" settings, B = "+strconv.FormatUint(batch, 10), func(b *testing.B) {
				c, m := config(b, life(1024, batch), lines...)
				machine, err := newMachine(c, mechtest.Open(b, m, [32]byte{1}))
				if err != nil {
					b.Fatal(err)
				}
				counted := operators.ByCount(machine)
				events, dst := drawn(&c.spec, 1024, 1), make([]operators.Decision, 0, 1)
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					dst = counted.Add(dst[:0], operators.Record{Event: events[i%1024], Identity: noise.Identity{Offset: int64(i)}})
				}
			})
		}
	}
	b.Run("stream of 32 coordinates, B = 1", func(b *testing.B) {
		stream := mechtest.Open(b, mechanisms.Config{
			Name: "blt", Batch: 1, Contribution: contribution.OneComponent(32, 1), Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
			Terms: protection.Terms{
				Scope: protection.Decay{Steps: 65536}, Unit: protection.Event{Exchange: dp.Replace},
			},
		}, [32]byte{1})
		v := make([]float64, 32)
		for i := range v {
			v[i] = 0.1
		}
		b.ResetTimer()
		for i := range b.N {
			stream.Add(noise.Identity{Offset: int64(i)}, v)
			stream.Close()
		}
	})
}
