package streams

import (
	"encoding/binary"
	"errors"
	"fmt"

	"oriel/operators"
	"oriel/state"
	"oriel/state/frame"
)

// Saved says which segments of the changelog belong to a stream's state. Span is the current one: an earlier span's
// segments may be there as well, and do not belong to the state.
type Saved struct {
	Kind     frame.Kind
	Span     uint64
	Segments uint32
}

// savedNames says which segments have names. The state holds it, so that the segments of a closed step are deleted even
// after a restart.
type savedNames struct {
	step     uint64 // the last step with segments
	segments uint32
	bytes    uint64 // of all of them
	whole    uint64 // of those that were written when the whole table was
}

const (
	savedNamesLen = 8 + 4 + 8 + 8

	// again is how many times as long as the whole table the segments may become before they are written anew. Each
	// save adds the counts since the save before, so a name of every second would otherwise be written every second. The
	// least is there because writing a short table anew saves nothing.
	again      = 4
	againLeast = 8 << 20
)

// names returns the names of the open step, or nil if the machine counts none.
func (s *Stream) names() operators.Names {
	if m, is := s.machine.(operators.Naming); is {
		return m.Naming()
	}
	return nil
}

// Save appends the records of the changelog that must be committed together with the next state: new segments of the
// period's users and of the open step's names, and the end of those of an earlier period or step. It must be called
// BEFORE each AppendState.
func (s *Stream) Save(dst []state.Record, sealer *state.Sealer) []state.Record {
	if s.periods != nil {
		outdated := s.periods.Outdated()
		dst = end(dst, sealer, frame.KindUsers, outdated.Period, 0, outdated.Parts)
		for x, is := s.periods.Part(); is; x, is = s.periods.Part() {
			dst = save(dst, sealer, x)
		}
	}
	if names := s.names(); names != nil {
		dst = s.saveNames(dst, sealer, names)
	}
	return dst
}

// saveNames saves the counts since the last save, or all of the open step if the segments have become long. The
// segments of a closed step are needed until there are new ones: so the transaction that decides a step does not have
// to delete them.
func (s *Stream) saveNames(dst []state.Record, sealer *state.Sealer, names operators.Names) []state.Record {
	payload, is := names.NamesPart(state.MaxSegment)
	if !is {
		return dst
	}
	before, saved := s.saved, &s.saved
	switch step := s.Steps() + 1; {
	case saved.step != step:
		*saved = savedNames{step: step}
	case saved.bytes > max(again*saved.whole, againLeast):
		*saved = savedNames{step: step}
		names.NamesAgain()
		payload, is = names.NamesPart(state.MaxSegment)
	}
	if saved.segments == 0 {
		dst = end(dst, sealer, frame.KindNames, before.step, 0, before.segments)
	}
	anew := saved.whole == 0
	for ; is; payload, is = names.NamesPart(state.MaxSegment) {
		x := state.Segment{Kind: frame.KindNames, Span: saved.step, Number: saved.segments, Payload: payload}
		dst = save(dst, sealer, x)
		saved.segments++
		saved.bytes += uint64(len(payload))
	}
	if anew {
		saved.whole = saved.bytes
	}
	return dst
}

func save(dst []state.Record, sealer *state.Sealer, x state.Segment) []state.Record {
	return append(dst, state.Record{Key: sealer.SegmentKey(x.Kind, x.Span, x.Number), Value: sealer.SealSegment(nil, x)})
}

// end deletes segments.
func end(dst []state.Record, sealer *state.Sealer, kind frame.Kind, span uint64, from, to uint32) []state.Record {
	for number := from; number < to; number++ {
		dst = append(dst, state.Record{Key: sealer.SegmentKey(kind, span, number)})
	}
	return dst
}

// Saved returns the segments that belong to the state, by kind.
func (s *Stream) Saved() (all []Saved) {
	if s.periods != nil {
		x := s.periods.Saved()
		all = append(all, Saved{frame.KindUsers, x.Period, x.Parts})
	}
	if s.names() != nil {
		x := Saved{Kind: frame.KindNames, Span: s.Steps() + 1}
		if s.saved.step == x.Span {
			x.Segments = s.saved.segments
		}
		all = append(all, x)
	}
	return all
}

// Take completes a restored stream by the segments of Saved.
func (s *Stream) Take(open func(kind frame.Kind, span uint64, number uint32) (state.Segment, error)) error {
	for _, saved := range s.Saved() {
		next := func(number uint32) (state.Segment, error) { return open(saved.Kind, saved.Span, number) }
		if saved.Kind == frame.KindUsers {
			if err := s.periods.Take(next); err != nil {
				return err
			}
			continue
		}
		for number := range saved.Segments {
			x, err := next(number)
			switch {
			case err != nil:
				return err
			case x.Span != saved.Span || x.Number != number:
				return fmt.Errorf("pipeline: segment %d of step %d in the place of segment %d of step %d", x.Number, x.Span, number, saved.Span)
			}
			if err := s.names().TakeNames(x.Payload); err != nil {
				return err
			}
		}
	}
	return nil
}

// Grown returns the memory of users and of the open step's names, bytes. It is private.
func (s *Stream) Grown() (bytes int) {
	if s.periods != nil {
		bytes = s.periods.Bytes()
	}
	if names := s.names(); names != nil {
		bytes += names.NamesBytes()
	}
	return bytes
}

func (n savedNames) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, n.step)
	dst = binary.LittleEndian.AppendUint32(dst, n.segments)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, n.bytes), n.whole)
}

// cutNames reads what append appended, from the end of a state.
func cutNames(b []byte) (n savedNames, rest []byte, err error) {
	split := len(b) - savedNamesLen
	if split < 0 {
		return n, nil, errors.New("pipeline: state: shorter than its number of names")
	}
	rest, b = b[:split], b[split:]
	n = savedNames{
		step: binary.LittleEndian.Uint64(b), segments: binary.LittleEndian.Uint32(b[8:]),
		bytes: binary.LittleEndian.Uint64(b[12:]), whole: binary.LittleEndian.Uint64(b[20:]),
	}
	if n.bytes < uint64(n.segments) || n.bytes > uint64(n.segments)*uint64(state.MaxSegment) || n.whole > n.bytes {
		return n, nil, fmt.Errorf("pipeline: state: %d bytes of names in %d segments", n.bytes, n.segments)
	}
	return n, rest, nil
}
