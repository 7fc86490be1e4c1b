package decision

import (
	"fmt"
	"slices"
	"strconv"

	"oriel/schemas/text"
)

// Extra is a member that an operator's decisions have after the members of all decisions. Its name and kind must not
// change while a deployment of the operator lives, because a stream recognises its own decisions by comparing complete
// texts.
type Extra struct {
	Name string // lower case, digits and _; unique, and different from the common members' names
	Kind ExtraKind
	Text string // one sentence for the JSON Schema
}

// ExtraKind is the type of an Extra.
type ExtraKind uint8

// The kinds.
const (
	ExtraNumber  ExtraKind = iota + 1 // finite
	ExtraNumbers                      // a list of finite numbers
	ExtraText
	ExtraList // a list of entries
)

// ExtraValue is the value of an Extra in a decision, in the field for its kind.
type ExtraValue struct {
	Number  float64
	Numbers []float64
	Text    string
	List    []Entry
}

// Entry is an entry of an ExtraList: a count of a name that no setting lists, and the interval of its true value.
type Entry struct {
	Name  string `json:"name"`
	Count uint64 `json:"count"`
	Low   uint64 `json:"low"`
	High  uint64 `json:"high"`
}

// ExtraMember is a member of a parsed decision that follows the common members. Readers that do not know its name
// ignore it.
type ExtraMember struct {
	Name string
	JSON string // the value as JSON; equal to the input bytes if the decision is JSON
}

func (v *ExtraValue) appendJSON(dst []byte, kind ExtraKind) []byte {
	switch kind {
	case ExtraNumber:
		return text.AppendFloat(dst, v.Number)
	case ExtraNumbers:
		return appendNumbers(dst, v.Numbers)
	case ExtraList:
		return appendList(dst, v.List)
	default: // ExtraText, the only other kind that checkExtras accepts
		return text.AppendString(dst, v.Text)
	}
}

func appendList(dst []byte, list []Entry) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = list[i].AppendJSON(dst)
	}
	return append(dst, ']')
}

// AppendJSON appends the entry as it stands in a decision in JSON, its longest encoding.
func (x *Entry) AppendJSON(dst []byte) []byte {
	dst = text.AppendString(append(dst, `{"name":`...), x.Name)
	dst = strconv.AppendUint(append(dst, `,"count":`...), x.Count, 10)
	dst = strconv.AppendUint(append(dst, `,"low":`...), x.Low, 10)
	return append(strconv.AppendUint(append(dst, `,"high":`...), x.High, 10), '}')
}

// decisionMembers are the members of all decisions, in their order.
var decisionMembers = [...]string{
	"stream", "incarnation", "index", "step", "decision", "mechanism", "window", "batch", "epsilon", "delta", "adjacency",
	"unit",
}

// checkExtras returns an error for a broken rule of Extra.
func checkExtras(extras []Extra) error {
	seen := append(slices.Clone(decisionMembers[:]), secondsMember, timeMember)
	for _, x := range extras {
		switch {
		case !text.IsName(x.Name):
			return fmt.Errorf("schemas: extra member %q: a name has lower-case letters, digits and _, a letter first", x.Name)
		case slices.Contains(seen, x.Name):
			return fmt.Errorf("schemas: extra member %q: given twice, or one of all decisions", x.Name)
		case x.Kind < ExtraNumber || x.Kind > ExtraList:
			return fmt.Errorf("schemas: extra member %q: no such kind", x.Name)
		}
		seen = append(seen, x.Name)
	}
	return nil
}
