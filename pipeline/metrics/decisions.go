package metrics

import (
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/pipeline"
)

// MaxDecisionSeries bounds the series that decisions may be shown as, in one process: Prometheus keeps each for itself,
// and a decision may have a quarter of a million coordinates.
const MaxDecisionSeries = 1000

// decisions shows the first coordinates of the newest committed decision of each stream that the process owns. It is
// post-processing of what is published. A stream that was taken over is not shown before its next commit: what the last
// owner committed may be hours old.
type decisions struct {
	coordinates   int
	value, hidden *prometheus.Desc

	mu     sync.Mutex
	newest map[int32]shown // by partition
}

type shown struct {
	stream string
	point  []float64
}

func newDecisions(coordinates int) *decisions {
	return &decisions{
		coordinates: coordinates, newest: map[int32]shown{},
		value: prometheus.NewDesc("oriel_decision",
			"A coordinate of the newest decision that this process has committed of a stream, from 0.",
			[]string{"stream", "coordinate"}, nil),
		hidden: prometheus.NewDesc("oriel_decision_streams_hidden",
			"Streams whose decisions are not shown, since a process has 1000 series for them.", nil, nil),
	}
}

func (d *decisions) committed(p int32, newest pipeline.Decided) {
	d.mu.Lock()
	defer d.mu.Unlock()
	shownOf := newest.Point[:min(d.coordinates, len(newest.Point))]
	d.newest[p] = shown{stream: newest.Stream, point: slices.Clone(shownOf)}
}

func (d *decisions) closed(p int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.newest, p)
}

// Describe makes decisions a prometheus.Collector.
func (d *decisions) Describe(to chan<- *prometheus.Desc) { to <- d.value; to <- d.hidden }

// Collect sends whole streams, those of the lowest partitions first, as long as there is room.
func (d *decisions) Collect(to chan<- prometheus.Metric) {
	d.mu.Lock()
	defer d.mu.Unlock()
	room, hidden := MaxDecisionSeries, 0
	for _, p := range slices.Sorted(maps.Keys(d.newest)) {
		s := d.newest[p]
		if len(s.point) > room {
			hidden++
			continue
		}
		room -= len(s.point)
		for i, x := range s.point {
			to <- prometheus.MustNewConstMetric(d.value, prometheus.GaugeValue, x, s.stream, strconv.Itoa(i))
		}
	}
	to <- prometheus.MustNewConstMetric(d.hidden, prometheus.GaugeValue, float64(hidden))
}
