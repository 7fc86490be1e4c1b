package race

import (
	"encoding/json"
	"fmt"
	"math"

	"oriel/cmd/internal/digits"
	"oriel/schemas/decision"
)

// banded is a predictor whose decisions have a band.
type banded interface {
	// within reports whether the event's label is within the newest band, and returns the band's width. See
	// operators.BandScore.Within.
	within(e *scoredEvent) (within bool, width float64)
}

// takeBand reads the band of a decision.
func (c *machine) takeBand(stream int32, members []decision.ExtraMember) error {
	if c.bands == nil {
		return nil
	}
	for _, member := range members {
		var at *float64
		switch member.Name {
		case "band_low":
			at = &c.bands[stream][0]
		case "band_high":
			at = &c.bands[stream][1]
		default:
			continue
		}
		if err := json.Unmarshal([]byte(member.JSON), at); err != nil {
			return fmt.Errorf("decision: %s: %w", member.Name, err)
		}
	}
	return nil
}

func (c *machine) within(e *scoredEvent) (within bool, width float64) {
	band := c.bands[e.Stream]
	return c.rule.Band.Within(c.points[e.Stream], e.decoded, band[0], band[1])
}

// bandTally counts events, the events within their bands, and the sum of widths. Each event counts once, whatever its
// weight.
type bandTally struct{ events, within, width float64 }

func (t *bandTally) add(o bandTally) {
	t.events, t.within, t.width = t.events+o.events, t.within+o.within, t.width+o.width
}

// countBand counts an event of a stretch, if the predictor has a band.
func (s *scored) countBand(stretch int, e *scoredEvent) {
	b, ok := s.predictor.(banded)
	if !ok || s.score.rule.Band == nil {
		return
	}
	within, width := b.within(e)
	t := bandTally{events: 1, width: width}
	if within {
		t.within = 1
	}
	s.score.bands[stretch].add(t)
}

// wholeBand returns the tally over all stretches.
func (s *score) wholeBand() (all bandTally) {
	for _, t := range s.bands {
		all.add(t)
	}
	return all
}

func (s *score) bandShare() float64 {
	all := s.wholeBand()
	return all.within / all.events
}

func (s *score) bandWidth() float64 {
	all := s.wholeBand()
	return all.width / all.events
}

// farthest returns a function that selects the share that is farthest from level.
func farthest(level float64) func(x ...float64) float64 {
	return func(x ...float64) float64 {
		worst := x[0]
		for _, share := range x[1:] {
			if math.Abs(share-level) > math.Abs(worst-level) {
				worst = share
			}
		}
		return worst
	}
}

// bandCurve computes, for each stretch, the share of events within their bands, averaged over the seeds.
func (row *Row) bandCurve(runs []*scored) {
	if !row.Within.Mean.Known() {
		return
	}
	for k := range Stretches {
		share := 0.0
		for _, r := range runs {
			share += r.score.bands[k].within / r.score.bands[k].events / float64(len(runs))
		}
		row.WithinStretch = append(row.WithinStretch, digits.Number(share))
	}
}
