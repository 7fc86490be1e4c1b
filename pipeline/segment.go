package pipeline

import (
	"oriel/pipeline/kafka"
	"oriel/state"
)

// segment is everything that one transaction will make readable, in the order it was computed.
type segment struct {
	decisions [outputs]kafka.Pack // of each topic of decisions
	newest    []byte              // line of the last decision in the first topic, which is the one for all, where somebody listens to it
	heard     bool                // somebody does
	verdicts  []byte              // of each offset since the segment before
	rows      kafka.Pack          // the verdicts, sealed
	row       []byte              // one of them, under construction
	position  state.Position      // after the last record taken
	sealed    []byte              // state at position
	records   int
	taken     int // bytes of the records taken, whatever is in them: public
	count     int // decisions
	steps     uint64
	end       int64 // end of the input when its last records were fetched
}

func (g *segment) reset() {
	for i := range g.decisions {
		g.decisions[i].Reset()
	}
	g.rows.Reset()
	g.newest = g.newest[:0]
	g.verdicts = g.verdicts[:0]
	g.sealed = g.sealed[:0]
	g.records, g.taken, g.count, g.steps = 0, 0, 0, 0
}

// full tells whether the transaction closes: it holds as much as there is memory for, or is over as much input as is to
// be computed again when it fails. Both are public sizes: where a transaction closes must not tell what records were.
func (g *segment) full(memory, input int) bool {
	held := len(g.verdicts)
	for i := range g.decisions {
		held += g.decisions[i].Bytes()
	}
	return held >= memory || g.taken >= input
}

// newSegment returns an empty segment.
func (s *Service) newSegment() *segment { return &segment{heard: s.listener.Decided != nil} }

// decide adds one decision for one of the topics of decisions; its line is copied.
func (g *segment) decide(output uint8, stream, line []byte, now int64) {
	g.decisions[output].Append(stream, line, nil, now)
	if output == 0 && g.heard {
		g.newest = append(g.newest[:0], line...)
	}
	g.count++
}
