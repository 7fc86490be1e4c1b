package arms

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/operators"
	"oriel/operators/actions"
)

// The fields of a state are the state of the rule, the rounds that the table can hold (an arm u32 and a probability f64
// each), and the table.
const stateVersion = 1

const roundLen = 4 + 8

// defineState lists the fields of the state of a machine that New has made.
func (m *Machine) defineState() {
	m.Version, m.Fields = stateVersion, []operators.Field{m.rule, (*rounds)(m), m.table}
	m.Check = func() error { return actions.Check(m.table, m.Stream) }
}

// rounds is the state field of Machine.rounds.
type rounds Machine

func (r *rounds) StateLen() int { return roundLen * len(r.rounds) }

func (r *rounds) AppendState(dst []byte) []byte {
	for _, p := range r.rounds {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.arm))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(p.probability))
	}
	return dst
}

func (r *rounds) Restore(state []byte) error {
	for i := range r.rounds {
		p := playedRound{
			arm:         int(binary.LittleEndian.Uint32(state[roundLen*i:])),
			probability: math.Float64frombits(binary.LittleEndian.Uint64(state[roundLen*i+4:])),
		}
		if p.arm >= len(r.config.Arms) || !(p.probability >= 0 && p.probability <= 1) {
			return errors.New("an arm that does not exist, or a probability outside 0 to 1")
		}
		r.rounds[i] = p
	}
	return nil
}
