package names

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/perstep"
)

// Listed is a published name with its count and noise.
type Listed struct {
	Name  []byte
	Count int64
}

// Sum counts the names of one stream. Its state is the number of closed steps: counts of the open step are in parts. It
// is not safe for concurrent use.
type Sum struct {
	perstep.Counter
	Table
	law      *Law
	sampler  noise.Sampler
	instance uint16
	closed   bool // the table is of a closed step

	order  []ranked // scratch: the names in ascending order
	drawn  []int64  // scratch: their noise
	listed []Listed
}

// ranked is a name in the order of bytes: its first 8 bytes, padded with zeros, and the number of its entry.
type ranked struct {
	head  uint64
	entry uint32
}

// New returns the sum before its first step. sampler must have the law of law; instance separates the noise of several
// mechanisms on one chain.
func New(law *Law, sampler noise.Sampler, instance uint16) *Sum {
	return &Sum{law: law, sampler: sampler, instance: instance}
}

// Fresh returns a new sum before its first step. Both share law and sampler, so only one may be used at a time.
func (s *Sum) Fresh() *Sum { return New(s.law, s.sampler, s.instance) }

// Law returns the law of the published counts.
func (s *Sum) Law() *Law { return s.law }

// Open returns the table of the open step.
func (s *Sum) Open() *Table {
	if s.closed {
		s.Reset()
		s.closed, s.listed = false, s.listed[:0]
	}
	return &s.Table
}

// Add closes the step: each name gets a draw of its own, in ascending order of the names' bytes, and is listed if its
// count and draw reach the threshold. The chain must have absorbed every name of the step, and closed it, BEFORE. The
// key of the step's noise is node {instance, block: step number}, level and index 0. dst and v are not used.
func (s *Sum) Add(_ []float64, _ []lattice.Int128, chain *noise.Chain) {
	s.Open()
	seed := chain.Seed(noise.NodeID{Instance: s.instance, Block: s.Next()})
	s.rank()
	s.drawn = slices.Grow(s.drawn[:0], len(s.order))[:len(s.order)]
	s.sampler.Fill(s.drawn, seed)
	for i, r := range s.order {
		e := &s.entries[r.entry]
		if y := int64(e.count) + s.drawn[i]; y >= s.law.Threshold {
			s.listed = append(s.listed, Listed{s.name(e), y})
		}
	}
	s.closed = true
}

// rank sorts the names by their bytes.
func (s *Sum) rank() {
	s.order = slices.Grow(s.order[:0], len(s.entries))
	for i := range s.entries {
		var head [8]byte
		copy(head[:], s.name(&s.entries[i]))
		s.order = append(s.order, ranked{binary.BigEndian.Uint64(head[:]), uint32(i)})
	}
	slices.SortFunc(s.order, func(a, b ranked) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return bytes.Compare(s.name(&s.entries[a.entry]), s.name(&s.entries[b.entry]))
	})
}

// Listed returns the names of the last closed step whose counts with noise reach the threshold, in ascending order of
// their bytes. It is valid until the next name.
func (s *Sum) Listed() []Listed { return s.listed }

// Whole panics unless the table has as many counts as there are events in the open step. After a restore it has, if
// Take has got every part of the step.
func (s *Sum) Whole(events uint64) {
	if total := s.Open().Total(); total != events {
		panic(fmt.Sprintf("BUG: names: a step of %d events has counts of %d: a part is missing, or was taken twice", events, total))
	}
}

// Restore restores a state that AppendState wrote, with an empty table: Take must get the parts of the open step.
func (s *Sum) Restore(state []byte) error {
	if err := s.Counter.Restore(state); err != nil {
		return err
	}
	s.closed = true
	s.Open()
	return nil
}
