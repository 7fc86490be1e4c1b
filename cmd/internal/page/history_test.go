package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/score"
	"oriel/mechanisms/protection"
	"oriel/pipeline/console"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

// TestHistoryKeepsAnHour compares the history with one that keeps all samples, and searches for the finest spacing with
// which the newest samples fit.
func TestHistoryKeepsAnHour(t *testing.T) {
	h := newHistory()
	var all []int64
	for k := range int64(3*maxSamples*longest + 5) {
		h.add(sample{at: 1000 + k, totals: totals{steps: uint64(2 * k), records: uint64(3 * k)}})
		all = append(all, 1000+k)
		every := 1
		for every < longest && (len(all)+every-1)/every > maxSamples {
			every *= 2
		}
		var want []int64
		for i := 0; i < len(all); i += every {
			want = append(want, all[i])
		}
		if len(want) > maxSamples {
			want = want[len(want)-maxSamples:]
		}
		if k%97 != 0 && len(all)%maxSamples > 2 {
			continue
		}
		if got := h.past(notice.Operators).Time; !slices.Equal(got, want) {
			t.Fatalf("after %d samples: %d from %d to %d, want %d from %d to %d", k+1, len(got), got[0], got[len(got)-1],
				len(want), want[0], want[len(want)-1])
		}
		if r := h.rate(); len(want) > 1 && r != 2 {
			t.Fatalf("after %d samples: rate %g", k+1, r)
		}
	}
	if first, last := h.samples[0].at, h.samples[len(h.samples)-1].at; last-first != 3600-longest {
		t.Errorf("it spans %d s", last-first)
	}
}

// TestRateSoonIgnoresABacklog checks the rate ten minutes after a million steps at once: it must be the rate of the
// steps since then.
func TestRateSoonIgnoresABacklog(t *testing.T) {
	h := newHistory()
	steps := uint64(0)
	for k := range int64(3000) {
		if steps += 5; k == 100 {
			steps += 1_000_000
		}
		h.add(sample{at: k, totals: totals{steps: steps}})
	}
	if r := h.rate(); r != 5 {
		t.Errorf("rate %g, want 5", r)
	}
}

// model is a deployment with made-up decisions, all of which it keeps.
type model struct {
	page *Page
	l    notice.Listener
	at   time.Time
	all  map[int32][]decision.Decision // newest decision at each sample, by partition; index 0: none yet
}

func newModel() *model {
	terms := protection.Terms{Scope: protection.Window{Steps: 8}, Unit: protection.Event{}}
	p := New(About{
		Guarantee: protection.Guarantee{Terms: terms, Epsilon: 1}, Reasons: func() []console.Reason { return nil },
	})
	return &model{page: p, l: p.Listen(notice.Listener{}), at: time.Unix(1000, 0), all: map[int32][]decision.Decision{}}
}

// publish makes a decision the newest of a partition.
func (m *model) publish(id int32, index uint64, point []float64, extras ...decision.Extra) {
	e := decision.NewEncoder(decision.Config{
		Stream: fmt.Sprint(id), Mechanism: "m", Window: 8, Batch: 1, Epsilon: 1, Adjacency: "replace", Unit: "event",
	}, extras)
	d := e.Decision(index, index, decision.NoTime, point, nil)
	m.l.Decided(id, &d)
	m.l.Committed(notice.Commit{Partition: id, Steps: 1, Records: 1, Decisions: 1})
}

// TestCoursesAreThoseOfTheDecisions compares the page's histories with a slow reference that keeps every decision.
// Streams come and go, and each sample must have the newest decision of each stream.
func TestCoursesAreThoseOfTheDecisions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 7))
	const dimension, partitions = 2 * maxWeights, 2
	m := newModel()
	type seen struct {
		at      int64
		newest  map[int32][]float64
		largest map[int32][]int
	}
	var all []seen
	newest := map[int32][]float64{}
	for id := range int32(partitions) {
		m.l.State(id, notice.Running)
	}
	for k := range 40 {
		for id := range int32(partitions) {
			if k > 3 && random.IntN(2) == 0 {
				point := make([]float64, dimension)
				for i := range point {
					point[i] = float64(i%7) * random.NormFloat64()
				}
				m.publish(id, uint64(k), point)
				newest[id] = point
			}
		}
		s := seen{m.at.Unix(), maps.Clone(newest), map[int32][]int{}}
		for id, point := range newest {
			order := make([]int, dimension)
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(point[j]), math.Abs(point[i])) })
			s.largest[id] = order[:maxWeights]
		}
		all = append(all, s)
		m.page.sample(m.at)
		m.at = m.at.Add(time.Second)
	}
	for id := range int32(partitions) {
		for i := range dimension {
			var got courseFrame
			if err := json.Unmarshal(m.page.courseFrame(id, i), &got); err != nil {
				t.Fatal(err)
			}
			var wantTimes []int64
			var want []string
			known := false
			for _, s := range all {
				shows := slices.Contains(s.largest[id], i)
				if known = known || shows; !known {
					continue
				}
				value := "null"
				if shows {
					value = string(encoded(shown(float32(s.newest[id][i]))))
				}
				wantTimes, want = append(wantTimes, s.at), append(want, value)
			}
			var raw struct{ Value []json.RawMessage }
			_ = json.Unmarshal(m.page.courseFrame(id, i), &raw)
			var texts []string
			for _, v := range raw.Value {
				texts = append(texts, string(v))
			}
			if !slices.Equal(got.Time, wantTimes) || !slices.Equal(texts, want) {
				t.Fatalf("partition %d, coordinate %d: %v %v, want %v %v", id, i, got.Time, texts, wantTimes, want)
			}
		}
	}
}

// TestSharesAreOfTheNewest checks that shares count only the newest actions.
func TestSharesAreOfTheNewest(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 7))
	var c choices
	var all []string
	for range 3 * maxChoices {
		name := []string{"a", "b", "c", ""}[random.IntN(4)]
		if c.add(name); name != "" {
			all = append(all, name)
		}
		counts := map[string]int{}
		for _, name := range all[max(0, len(all)-maxChoices):] {
			counts[name]++
		}
		got := map[string]int{}
		last := math.MaxInt
		for _, s := range c.shares() {
			if got[s.Name] = s.Count; s.Count > last {
				t.Fatalf("shares rise: %v", c.shares())
			}
			last = s.Count
		}
		if !maps.Equal(got, counts) {
			t.Fatalf("%v, want %v", got, counts)
		}
	}
}

// TestFramesAreBounded checks that the page keeps and sends little data, however many streams have long decisions.
func TestFramesAreBounded(t *testing.T) {
	m := newModel()
	point := make([]float64, 5000)
	for i := range point {
		point[i] = -1 / float64(i+3)
	}
	for id := range int32(100) {
		m.l.State(id, notice.Running)
		m.publish(id, 1, point)
	}
	for range 2 * maxSamples {
		m.page.sample(m.at)
		m.at = m.at.Add(time.Second)
	}
	if frame := m.page.nowFrame(); len(frame) > 100_000 {
		t.Errorf("a frame of %d bytes", len(frame))
	}
	numbers := 0
	for _, s := range m.page.history.samples {
		for _, row := range s.rows {
			numbers += len(row)
		}
	}
	if numbers > 3*maxTracked*maxSamples {
		t.Errorf("the history has %d numbers", numbers)
	}
	m.l.Closed(0)
	if text := string(m.page.courseFrame(0, 0)); text != `{"time":[],"steps":[],"value":[],"low":[],"high":[]}` {
		t.Errorf("a partition that was handed over has a course: %s", text)
	}
}

// TestWeightsHaveNamesAndNoise checks that weights have the names and the noise of the descriptor. If there are several
// arms, each must have its own names and noise. A number that is added with a minus sign must be shown with this sign.
func TestWeightsHaveNamesAndNoise(t *testing.T) {
	m := newModel()
	m.page.about.Vectors = score.Descriptor{
		Vector: score.Vector{Version: 1, Dimension: 2}, Arms: []string{"a", "b"},
		Names: []score.Name{{Name: "hour", Index: 1, Sign: -1}},
		Noise: &score.Noise{Steps: []uint64{1}, Deviations: []float64{1 / normal}},
	}
	m.l.State(0, notice.Running)
	m.publish(0, 3, []float64{1, 2, 3, 4})
	var frame struct{ Decisions []decided }
	if err := json.Unmarshal(m.page.nowFrame(), &frame); err != nil || len(frame.Decisions) != 1 {
		t.Fatal(err, frame)
	}
	d := frame.Decisions[0]
	if got, want := fmt.Sprint(d.Names, d.Values, d.Low, d.High),
		"[b: hour b: coordinate 0 a: hour a: coordinate 0] [-4 3 -2 1] [-5 2 -3 0] [-3 4 -1 2]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestCoursesByTheClockHaveAPointForEachStep checks that hours stay in the course of an hourly number however often the
// page takes samples, each at the end of its step.
func TestCoursesByTheClockHaveAPointForEachStep(t *testing.T) {
	m := newModel()
	m.page.about.Step = time.Hour
	m.l.State(0, notice.Running)
	var times, values []string
	for k := range int64(200) {
		d := decision.Decision{Point: []float64{float64(10 * k)}}
		d.Extras = []decision.ExtraMember{{Name: "time", JSON: fmt.Sprint(3600_000 * k)}}
		m.l.Decided(0, &d)
		for range 100 {
			m.page.sample(m.at)
			m.at = m.at.Add(36 * time.Second)
		}
		times, values = append(times, fmt.Sprint(3600*k)), append(values, fmt.Sprint(10*k))
	}
	text := string(m.page.courseFrame(0, 0))
	for _, list := range [][]string{times, values} {
		if want := ":[" + strings.Join(list, ",") + "]"; !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
