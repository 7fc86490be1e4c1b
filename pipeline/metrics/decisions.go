package metrics

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/schemas/decision"
)

// MaxDecisionSeries bounds the series of decisions of one process, because Prometheus stores each series and a decision
// may have a quarter of a million coordinates.
const MaxDecisionSeries = 1000

// Numbers are decisions whose coordinates have names and intervals.
type Numbers struct {
	Labels [][3]string                                                       // of each number: memory, statistic and cell
	Read   func(*decision.Decision) (values, low, high []float64, err error) // a value NaN has no series
}

// decisions shows the newest committed decision of each stream that the process owns: its first coordinates by index
// and the decision's other numbers, or its named numbers with intervals. This is post-processing of published
// decisions. After a take-over a stream is not shown before its next commit, because the previous owner's decision may
// be hours old.
type decisions struct {
	coordinates int
	numbers     *Numbers           // names and intervals of coordinates; nil: coordinates have numbers only
	perStream   []*prometheus.Desc // of a coordinate: its value; of a named number also both ends of its interval
	member      *prometheus.Desc   // nil if coordinates have names
	hidden      *prometheus.Desc

	mu     sync.Mutex
	newest map[int32]shownSeries // newest decision of each partition
}

type shownSeries struct {
	stream string
	series [][]float64 // series of each coordinate, in the order of perStream

	members []member
}

// member is a number of a decision besides its coordinates, for example the value of a set.
type member struct {
	name  string
	value float64
}

// size returns the number of series.
func (s shownSeries) size() int { return len(s.series)*len(s.series[0]) + len(s.members) }

func newDecisions(coordinates int, numbers *Numbers) *decisions {
	d := &decisions{coordinates: coordinates, numbers: numbers, newest: map[int32]shownSeries{}}
	desc := func(name, help string, labels ...string) {
		d.perStream = append(d.perStream, prometheus.NewDesc(name, help, labels, nil))
	}
	if numbers == nil {
		desc("oriel_decision", "A coordinate, counted from 0, of the newest decision of a stream that this process has committed.",
			"stream", "coordinate")
		d.member = prometheus.NewDesc("oriel_decision_member",
			"A number that the newest decision of a stream has beside its coordinates, by the name of its member.",
			[]string{"stream", "member"}, nil)
	} else {
		labels := []string{"stream", "memory", "statistic", "cell"}
		desc("oriel_number", "A private number in the newest decision of a stream that this process has committed.", labels...)
		desc("oriel_number_low", "Lower end of the interval of oriel_number at 95 %, of the noise alone.", labels...)
		desc("oriel_number_high", "Upper end of the interval of oriel_number at 95 %, of the noise alone.", labels...)
	}
	d.coordinates = min(coordinates, MaxDecisionSeries/len(d.perStream))
	d.hidden = prometheus.NewDesc("oriel_decision_streams_hidden",
		"Streams whose decisions are not shown, since a process has 1000 series for them.", nil, nil)
	return d
}

func (d *decisions) committed(p int32, newest *decision.Decision) {
	series := [][]float64{newest.Point}
	if d.numbers != nil {
		values, low, high, err := d.numbers.Read(newest)
		if err != nil { // the number has no interval
			d.closed(p)
			return
		}
		series = [][]float64{values, low, high}
	}
	members := d.members(newest)
	most := min(d.coordinates, MaxDecisionSeries-len(members))
	for i := range series {
		series[i] = slices.Clone(series[i][:min(most, len(series[i]))])
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.newest[p] = shownSeries{stream: newest.Stream, series: series, members: members}
}

// members returns the extra members of a decision that are numbers. Operators have only a few.
func (d *decisions) members(newest *decision.Decision) (members []member) {
	if d.member == nil {
		return nil
	}
	for _, x := range newest.Extras {
		if value, err := strconv.ParseFloat(x.JSON, 64); err == nil {
			members = append(members, member{x.Name, value})
		}
	}
	return members
}

func (d *decisions) closed(p int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.newest, p)
}

// Describe makes decisions a prometheus.Collector.
func (d *decisions) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range d.perStream {
		to <- desc
	}
	if d.member != nil {
		to <- d.member
	}
	to <- d.hidden
}

// Collect sends whole streams, the lowest partitions first, as long as their series stay within MaxDecisionSeries.
func (d *decisions) Collect(to chan<- prometheus.Metric) {
	d.mu.Lock()
	defer d.mu.Unlock()
	room, hidden := MaxDecisionSeries, 0
	for _, p := range slices.Sorted(maps.Keys(d.newest)) {
		s := d.newest[p]
		if s.size() > room {
			hidden++
			continue
		}
		room -= s.size()
		for k, desc := range d.perStream {
			for i, x := range s.series[k] {
				if math.IsNaN(x) {
					continue
				}
				to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, x, d.labels(s.stream, i)...)
			}
		}
		for _, m := range s.members {
			to <- prometheus.MustNewConstMetric(d.member, prometheus.GaugeValue, m.value, s.stream, m.name)
		}
	}
	to <- prometheus.MustNewConstMetric(d.hidden, prometheus.GaugeValue, float64(hidden))
}

// labels returns the labels of a coordinate's series.
func (d *decisions) labels(stream string, i int) []string {
	if d.numbers == nil {
		return []string{stream, strconv.Itoa(i)}
	}
	return append([]string{stream}, d.numbers.Labels[i][:]...)
}
