package linucb

import (
	"encoding/json"

	"oriel/operators"
)

var _ operators.Descriptive = operator{}

// Descriptor names the arms, whose weights a model has one behind the other. It is nil for arms with features and for
// candidates, because their weights are of products.
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
