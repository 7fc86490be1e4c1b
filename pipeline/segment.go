package pipeline

import (
	"oriel/pipeline/kafka"
	"oriel/state"
)

// segment is everything that one transaction will make readable, in the order it was computed.
type segment struct {
	takenExtent
	decisions  [decisionTopics]kafka.Pack // of each topic of decisions
	pool       *kafka.Pool                // of decisions, those of the other segment included
	newest     []byte                     // line of the last decision in the first topic; empty unless heard
	wantNewest bool                       // Listener.Decided is set
	verdicts   []byte                     // of each offset since the segment before
	rows       kafka.Pack                 // the verdicts, sealed
	row        []byte                     // one of them, under construction
	position   state.Position             // after the last record taken
	sealed     []byte                     // state at position
	count      int                        // decisions
	steps      uint64
	end        int64 // end of the input when its last records were fetched
}

func (g *segment) reset() {
	for i := range g.decisions {
		g.decisions[i].Reset()
	}
	g.rows.Reset()
	g.newest = g.newest[:0]
	g.verdicts = g.verdicts[:0]
	g.sealed = g.sealed[:0]
	g.takenExtent, g.count, g.steps = takenExtent{}, 0, 0
}

// full tells whether the partition's segments hold as much as there is memory for.
func (g *segment) full(memory int) bool { return g.pool.Bytes()+len(g.verdicts) >= memory }

// newSegment returns an empty segment, of which the decisions share their memory with those of others.
func (s *Service) newSegment(pool *kafka.Pool) *segment {
	g := &segment{wantNewest: s.listener.Decided != nil, pool: pool}
	for output := range g.decisions {
		g.decisions[output].Share(pool)
	}
	return g
}

// decide adds one decision for one of the topics of decisions; its line is copied.
func (g *segment) decide(output uint8, stream, line []byte, now int64) {
	g.decisions[output].Append(stream, line, nil, now)
	if output == 0 && g.wantNewest {
		g.newest = append(g.newest[:0], line...)
	}
	g.count++
}
