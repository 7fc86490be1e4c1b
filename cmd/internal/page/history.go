package page

import (
	"slices"

	"oriel/pipeline/notice"
)

// Samples are taken a second apart. The history keeps at most maxSamples. When it is full, it drops every second sample
// and doubles the spacing, until the spacing is `longest`. From then on it drops the oldest sample. So a young service
// shows seconds, and an old one an hour.
const (
	maxSamples = 450
	longest    = 8 // largest spacing, seconds; 450 · 8 s = 1 h
)

// sample is the state of the service at one moment.
type sample struct {
	at  int64 // Unix seconds
	lag int64
	totals
	rows map[int32][]float32 // tracked numbers of the newest decision, by partition
}

// history holds the samples of the last hour, or those since the start.
type history struct {
	taken, every int
	samples      []sample
}

func newHistory() history { return history{every: 1} }

func (h *history) add(s sample) {
	k := h.taken
	h.taken++
	if k%h.every != 0 {
		return
	}
	h.samples = append(h.samples, s)
	if len(h.samples) <= maxSamples {
		return
	}
	if h.every == longest {
		h.samples = append(h.samples[:0], h.samples[1:]...)
		return
	}
	h.every *= 2
	kept := h.samples[:0]
	for i := 0; i < len(h.samples); i += 2 {
		kept = append(kept, h.samples[i])
	}
	clear(h.samples[len(kept):])
	h.samples = kept
}

// rateOver is the number of seconds of history over which a rate is computed. After this time, a backlog at the start
// no longer counts.
const rateOver = 600

// rate returns the mean number of steps a second over the last rateOver seconds; it is zero before there is a history.
func (h *history) rate() float64 {
	if len(h.samples) == 0 {
		return 0
	}
	last := h.samples[len(h.samples)-1]
	first := h.samples[slices.IndexFunc(h.samples, func(s sample) bool { return s.at >= last.at-rateOver })]
	if first.at == last.at {
		return 0
	}
	return float64(last.steps-first.steps) / float64(last.at-first.at)
}

// past is the history of lag and counts, in the form for the browser. Readers see times and steps.
type past struct {
	Time    []int64  `json:"time"` // Unix seconds
	Steps   []uint64 `json:"steps"`
	Lag     []int64  `json:"lag,omitempty"`
	Records []uint64 `json:"records,omitempty"`
	Commits []uint64 `json:"commits,omitempty"`
}

func (h *history) past(a notice.Audience) past {
	p := past{Time: []int64{}, Steps: []uint64{}}
	for _, s := range h.samples {
		p.Time, p.Steps = append(p.Time, s.at), append(p.Steps, s.steps)
		if a == notice.Operators {
			p.Lag, p.Records, p.Commits = append(p.Lag, s.lag), append(p.Records, s.records), append(p.Commits, s.commits)
		}
	}
	return p
}
