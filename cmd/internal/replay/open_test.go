package replay_test

import (
	"runtime"
	"testing"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/streams"
)

// openedOf returns coco, opened with a mechanism, in 32 dimensions.
func openedOf(tb testing.TB, mechanism string) *streams.Opened {
	tb.Helper()
	s, err := settings.Load([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=0.001",
		"ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic,month:1:13:cyclic", "ORIEL_MECHANISM=" + mechanism,
		"ORIEL_WINDOW=1024", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}, settings.Events, settings.Operator)
	if err != nil {
		tb.Fatal(err)
	}
	model := s.Model()
	plan, err := model.Learner.Params()
	if err != nil {
		tb.Fatal(err)
	}
	opened, err := streams.OpenModel(model, plan)
	if err != nil {
		tb.Fatal(err)
	}
	return opened
}

// openOne opens another stream of an opened operator.
func openOne(tb testing.TB, opened *streams.Opened) *streams.Stream {
	tb.Helper()
	stream, err := opened.Open([32]byte{1}, [32]byte{}, "0", [16]byte{2})
	if err != nil {
		tb.Fatal(err)
	}
	return stream
}

// BenchmarkOpenStream measures the cost of one more stream in a deployment.
func BenchmarkOpenStream(b *testing.B) {
	opened := openedOf(b, "blt")
	b.ReportAllocs()
	for b.Loop() {
		openOne(b, opened)
	}
}

// TestFurtherStreamsAreCheap checks that each stream after the first costs at most 50 µs and 5.4 KB, so that a
// deployment can have one stream for each of very many keys. It uses the fastest of many hundred openings, because the
// machine runs other programs as well.
func TestFurtherStreamsAreCheap(t *testing.T) {
	const most, bytes, hundred = 50 * time.Microsecond, 84 << 6, 100
	opened, quickest := openedOf(t, "blt"), time.Hour
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range hundred {
		began := time.Now()
		for range hundred {
			openOne(t, opened)
		}
		quickest = min(quickest, time.Since(began)/hundred)
	}
	runtime.ReadMemStats(&after)
	if quickest > tiertest.Slack*most {
		t.Errorf("a stream is opened in %v, want %v at most", quickest, most)
	}
	if n := (after.TotalAlloc - before.TotalAlloc) / (hundred * hundred); n > tiertest.Slack*bytes {
		t.Errorf("a stream takes %d bytes, want %d at most", n, bytes)
	}
}
