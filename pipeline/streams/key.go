package streams

import (
	"encoding/json"
	"slices"

	"oriel/operators"
	"oriel/schemas/decision"
)

// keyed returns the index, among the extras, of the record key of decisions of a topic; −1 means that the key is the
// stream's name.
func (s *Opened) keyed(output uint8) int {
	if output == 0 || s.output == nil || s.output.Key == "" {
		return -1
	}
	return slices.IndexFunc(s.extras, func(x decision.Extra) bool {
		return x.Name == s.output.Key && x.Kind == decision.ExtraText
	})
}

// recordKey returns the record key of a decision, valid until the next call.
func (s *Stream) recordKey(d operators.Decision) []byte {
	text := s.name
	if at := s.opened.keys[d.Output]; at >= 0 && at < len(d.Extras) && d.Extras[at].Text != "" {
		text = d.Extras[at].Text
	}
	s.opened.key = append(s.opened.key[:0], text...)
	return s.opened.key
}

// RecordKeyOf is recordKey for a parsed decision.
func (s *Stream) RecordKeyOf(output uint8, d decision.Decision) []byte {
	var key string
	for _, x := range d.Extras {
		at := s.opened.keys[output]
		if at >= 0 && x.Name == s.opened.extras[at].Name && json.Unmarshal([]byte(x.JSON), &key) == nil && key != "" {
			return []byte(key)
		}
	}
	return []byte(s.name)
}
