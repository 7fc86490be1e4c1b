package streams

import (
	"encoding/binary"
	"errors"

	"oriel/schemas/decision"
)

// stepTime is the greatest timestamp of the records that the open step has taken, or decision.NoTime. It follows only
// from public metadata of records, so it is equal on every retry, restore and replay, unlike the clock.
type stepTime int64

// take takes the timestamp of a record, even if the record is a null event. A timestamp below 0 or beyond
// decision.LatestTime is ignored.
func (t *stepTime) take(timestamp int64) {
	if timestamp <= decision.LatestTime {
		*t = max(*t, stepTime(timestamp))
	}
}

// decisionTime returns the time of the decisions of the last closed step, in milliseconds: the end of a step by the
// clock, or the time of a step by count.
func (s *Stream) decisionTime() int64 {
	if clock := s.clock(); !clock.Counts() {
		return clock.End(s.Steps()) * 1000
	}
	return int64(s.time)
}

func (t stepTime) append(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, uint64(t)) }

// cutTime reads the time at the end of a state.
func cutTime(state []byte) (before []byte, t stepTime, err error) {
	split := len(state) - 8
	if split < 0 {
		return nil, 0, errors.New("pipeline: state: shorter than its time")
	}
	t = stepTime(binary.LittleEndian.Uint64(state[split:]))
	if t < stepTime(decision.NoTime) || t > stepTime(decision.LatestTime) {
		return nil, 0, errors.New("pipeline: state: a time that no step has")
	}
	return state[:split], t, nil
}
