package sets

import (
	"encoding/binary"
	"errors"

	"oriel/operators"
	"oriel/operators/actions"
)

// The fields of a state are the state of the rule, the rounds that the table can hold (a cell i32 and a stage u32
// each), and the table.
const stateVersion = 1

const roundLen = 4 + 4

// errState is the error for a state that no machine can have written.
var errState = errors.New("the counts of sets are impossible")

// defineState lists the fields of the state of a machine that newMachine has made.
func (m *Machine) defineState() {
	m.Version, m.Fields = stateVersion, []operators.Field{m.rule, (*rounds)(m), m.table}
	m.Check = func() error { return actions.Check(m.table, m.Stream) }
}

// rounds is the state field of Machine.rounds.
type rounds Machine

func (r *rounds) StateLen() int { return roundLen * len(r.rounds) }

func (r *rounds) AppendState(dst []byte) []byte {
	for _, p := range r.rounds {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.cell))
		dst = binary.LittleEndian.AppendUint32(dst, p.stage)
	}
	return dst
}

func (r *rounds) Restore(state []byte) error {
	for i := range r.rounds {
		p := playedRound{
			cell:  int32(binary.LittleEndian.Uint32(state[roundLen*i:])),
			stage: binary.LittleEndian.Uint32(state[roundLen*i+4:]),
		}
		if p.cell < -1 || int(p.cell) >= r.config.tries() {
			return errState
		}
		r.rounds[i] = p
	}
	return nil
}

// tries returns the number of cells that a round can explore.
func (c Config) tries() int {
	if c.Draws {
		return c.cells()
	}
	return len(c.Elements)
}
