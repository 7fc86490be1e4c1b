package demo

import (
	"crypto/sha256"
	"fmt"

	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/pipeline/streams"
)

// seeded makes noise equal in each run. It replaces the secret keys of a demo's streams by keys that follow from a
// number. It also replaces the identities of records, because the topic of the embedded broker has another id in each
// run. Such noise hides nothing. Only the demo uses it, over flights that are public.
type seeded struct {
	streams.Opener
	key [32]byte
}

func newSeeded(l streams.Opener, name string, seed uint64) seeded {
	return seeded{l, sha256.Sum256(fmt.Appendf(nil, "oriel demo, %s, seed %d", name, seed))}
}

func (s seeded) Open(params []byte) (func([32]byte) (operators.Machine, error), error) {
	open, err := s.Opener.Open(params)
	if err != nil {
		return nil, err
	}
	return func([32]byte) (operators.Machine, error) {
		m, err := open(s.key)
		return repeatable{m}, err
	}, nil
}

// repeatable is a machine that does not see the ids that change from run to run.
type repeatable struct{ operators.Machine }

func (m repeatable) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	r.Identity = noise.Identity{Partition: r.Identity.Partition, Offset: r.Identity.Offset}
	return m.Machine.Add(dst, r)
}
