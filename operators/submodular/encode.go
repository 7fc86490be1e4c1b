package submodular

import (
	"encoding/binary"
	"errors"
	"slices"

	"oriel/operators"
)

// The fields of a state are the newest set, k elements u32; for shares the newest points, K·N f64; and means, k·N f64,
// if the plan has them.
const stateVersion = 1

// defineState lists the fields of the state of a machine that newMachine has made.
func (m *Machine) defineState() {
	m.Version, m.Fields = stateVersion, []operators.Field{(*newestSet)(m)}
	if m.means != nil {
		m.Fields = append(m.Fields, m.means.Field())
	}
	s, ok := m.rule.(*continuousRule)
	if !ok {
		return
	}
	m.Fields = append(m.Fields, operators.Floats(s.points, func() error {
		for _, x := range s.points {
			if !(x >= 0 && x <= 1) {
				return errors.New("not points of the set")
			}
		}
		return nil
	}))
}

// newestSet is the state field of the newest set.
type newestSet Machine

func (n *newestSet) StateLen() int { return 4 * len(n.set) }

func (n *newestSet) AppendState(dst []byte) []byte {
	for _, element := range n.set {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(element))
	}
	return dst
}

func (n *newestSet) Restore(state []byte) error {
	for i := range n.set {
		n.set[i] = int(binary.LittleEndian.Uint32(state[4*i:]))
		if n.set[i] >= n.elements || !n.repeats() && slices.Contains(n.set[:i], n.set[i]) {
			return errors.New("not a set of elements")
		}
	}
	return nil
}
