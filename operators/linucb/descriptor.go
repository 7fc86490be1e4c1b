package linucb

import (
	"encoding/json"

	"oriel/operators"
)

var _ operators.Descriptive = operator{}

// Descriptor names the arms, whose weights are concatenated in a model. It is nil for candidates and for arms with
// features, because all choices then share their weights.
func (c operator) Descriptor() []byte {
	if len(c.arms) == 0 || len(c.lines) > 0 || c.candidates > 0 {
		return nil
	}
	text, err := json.Marshal(struct {
		Arms []string `json:"arms"`
	}{c.arms})
	if err != nil {
		panic("BUG: linucb: descriptor: " + err.Error())
	}
	return text
}
