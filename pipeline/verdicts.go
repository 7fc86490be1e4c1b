package pipeline

import (
	"fmt"

	"oriel/schemas"
	"oriel/state"
)

// setStatus adds the verdict of a record that lies gap offsets behind the record before.
func (g *segment) setStatus(gap int64, code schemas.Code) {
	g.setSkipped(gap)
	g.verdicts = append(g.verdicts, code.Verdict())
}

// setSkipped adds the verdicts of offsets that hold no record for us: markers and records of aborted transactions.
func (g *segment) setSkipped(offsets int64) {
	g.verdicts = append(g.verdicts, make([]byte, offsets)...) // 0: no record
}

// seal makes rows of the verdicts, which start at offset from and end where the segment does. Where one row ends and
// the next begins depends on the number of offsets alone.
func (g *segment) seal(sealer *state.Sealer, from int64, now int64) {
	if end := from + int64(len(g.verdicts)); end != g.position.Next {
		panic(fmt.Sprintf("BUG: pipeline: verdicts of the offsets %d to %d, the state stands at %d", from, end, g.position.Next))
	}
	for rest := g.verdicts; len(rest) > 0; {
		n := min(len(rest), state.MaxVerdicts)
		g.row = sealer.SealVerdicts(g.row[:0], from, rest[:n])
		g.rows.Append(nil, g.row, nil, now)
		from, rest = from+int64(n), rest[n:]
	}
}
