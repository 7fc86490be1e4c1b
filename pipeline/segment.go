package pipeline

import (
	"oriel/pipeline/kafka"
	"oriel/state"
)

// segment is everything that one transaction will make readable, in the order it was computed.
type segment struct {
	decisions kafka.Pack
	verdicts  []byte         // of each offset since the segment before
	rows      kafka.Pack     // the verdicts, sealed
	row       []byte         // one of them, under construction
	position  state.Position // after the last record taken
	sealed    []byte         // state at position
	records   int
	taken     int // bytes of the records taken, whatever is in them: public
	count     int // decisions
	steps     uint64
	end       int64 // end of the input when its last records were fetched
}

func (g *segment) reset() {
	g.decisions.Reset()
	g.rows.Reset()
	g.verdicts = g.verdicts[:0]
	g.sealed = g.sealed[:0]
	g.records, g.taken, g.count, g.steps = 0, 0, 0, 0
}

// full tells whether the transaction closes: it holds as much as there is memory for, or is over as much input as is to be computed again
// when it fails. Both are public sizes: where a transaction closes must not tell what records were.
func (g *segment) full(memory, input int) bool {
	return g.decisions.Bytes()+len(g.verdicts) >= memory || g.taken >= input
}

// decide adds one decision; its line is copied.
func (g *segment) decide(stream, line []byte, now int64) {
	g.decisions.Append(stream, line, nil, now)
	g.count++
}
