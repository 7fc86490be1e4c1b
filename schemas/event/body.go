package event

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"oriel/schemas/text"
)

const (
	// MaxMembers bounds the members of a body, because a JSONDecoder records the members that it has read in one word of
	// 32 bits.
	MaxMembers = 32
	// MaxCount bounds a Count, because every whole number up to it is a float64.
	MaxCount = 1 << 53
)

// Body defines the members that the events of an operator have. Decoders, JSON Schemas and generators of events follow
// it.
type Body struct {
	Name    string // lower case, digits and _; "loss" gives the JSON Schema event-loss. Required.
	Text    string // one sentence for the JSON Schema
	Members []Member
}

// Member is a top-level member of an event.
type Member struct {
	Name string // lower case, digits and _; unique in a body. Required.
	Also string // another accepted name of the member (cost for gradient); an event may use one of the two
	Kind Kind   // Required.
	Text string // one sentence for the JSON Schema

	// Optional allows an event to leave the member out. Then the Event has Default: any finite number, so that it can
	// mark absence; for a choice the position of a text, or −1. For a vector that is left out, Values is nil.
	Optional bool
	Default  float64

	Least, Most float64  // inclusive bounds of a Number or Count; both 0: any finite number, any count to ±MaxCount
	Choices     []string // for a Choice: the public list, without duplicates

	// Open allows a Choice to have a text that is not in the list: then its number is −1.
	Open bool
}

// Kind is the type of a member, and decides its place in an Event.
type Kind uint8

// The kinds. A body has at most one of the first three, at most one label, at most one weight, and at most one name.
const (
	KindVector    Kind = iota + 1 // Event.Vector: dense or sparse
	KindFeatures                  // Event.Vector: dense, sparse, or named features, which are hashed
	KindRelatives                 // Event.Vector: dense, each ≥ 0 and one > 0
	KindClass                     // Event.Label: −1, 0, 1, false or true; 0 and false mean −1
	KindTarget                    // Event.Label: any number
	KindWeight                    // Event.Weight: at least 0
	KindNumber                    // Event.Numbers: a number within bounds
	KindCount                     // Event.Numbers: a whole number within bounds, written without fraction or exponent
	KindChoice                    // Event.Numbers: a text of a list, stored as its position there
	KindName                      // Event.Name: a text that no list has, clean as text.CleanName says
)

// Vector returns the member that becomes Event.Vector.
func (b Body) Vector() (m Member, found bool) { return b.first(Kind.isVector) }

// Label returns the member that becomes Event.Label.
func (b Body) Label() (m Member, found bool) { return b.first(Kind.isLabel) }

func (b Body) first(is func(Kind) bool) (Member, bool) {
	for _, m := range b.Members {
		if is(m.Kind) {
			return m, true
		}
	}
	return Member{}, false
}

func (k Kind) isVector() bool { return k >= KindVector && k <= KindRelatives }
func (k Kind) isLabel() bool  { return k == KindClass || k == KindTarget }

// Further reports whether the member becomes an element of Event.Numbers.
func (k Kind) Further() bool { return k >= KindNumber && k <= KindChoice }

// Validate reports every problem at once.
func (b Body) Validate() error {
	var errs []error
	if !text.IsName(b.Name) {
		errs = append(errs, fmt.Errorf("schemas: body %q: a name has lower-case letters, digits and _, a letter first", b.Name))
	}
	if n := len(b.Members); n < 1 || n > MaxMembers {
		errs = append(errs, fmt.Errorf("schemas: body %q: %d members, not from 1 to %d", b.Name, n, MaxMembers))
	}
	vectors, labels, weights, named := 0, 0, 0, 0
	var names []string
	for _, m := range b.Members {
		if fault := m.fault(names); fault != "" {
			errs = append(errs, fmt.Errorf("schemas: body %q: member %q: %s", b.Name, m.Name, fault))
		}
		if names = append(names, m.Name); m.Also != "" {
			names = append(names, m.Also)
		}
		switch {
		case m.Kind.isVector():
			vectors++
		case m.Kind.isLabel():
			labels++
		case m.Kind == KindWeight:
			weights++
		case m.Kind == KindName:
			named++
		}
	}
	if max(vectors, labels, weights, named) > 1 {
		errs = append(errs, fmt.Errorf("schemas: body %q: more than one vector, label, weight or name", b.Name))
	}
	return errors.Join(errs...)
}

// fault returns the first rule that a member breaks, given the names of the members before it.
func (m Member) fault(names []string) string {
	bounded := m.Least != 0 || m.Most != 0
	switch {
	case !text.IsName(m.Name) || m.Also != "" && !text.IsName(m.Also):
		return "a name has lower-case letters, digits and _, a letter first"
	case m.Name == m.Also || slices.Contains(names, m.Name) || m.Also != "" && slices.Contains(names, m.Also):
		return "a name is given twice"
	case m.Kind < KindVector || m.Kind > KindName:
		return "no such kind"
	case bounded && m.Kind != KindNumber && m.Kind != KindCount:
		return "only numbers and counts have bounds"
	case bounded && !(m.Least <= m.Most && isFinite(m.Least) && isFinite(m.Most)):
		return "bounds are finite, the lower one first"
	case bounded && m.Kind == KindCount && !(isCount(m.Least) && isCount(m.Most)):
		return "bounds of a count are whole numbers up to 2^53 in size"
	case (m.Kind == KindChoice) != (len(m.Choices) > 0):
		return "choices have a list, and they alone"
	case m.Open && m.Kind != KindChoice:
		return "only choices are open"
	case !distinct(m.Choices):
		return "a choice is given twice, or is not UTF-8"
	}
	return m.defaultFault()
}

func (m Member) defaultFault() string {
	d := m.Default
	switch {
	case d == 0:
		return ""
	case !m.Optional:
		return "a default is for a member that may be left out"
	case !isFinite(d) || m.Kind.isVector() || m.Kind == KindName:
		return "a default is a finite number"
	case m.Kind == KindClass && d != 1 && d != -1:
		return "the default of a class is -1 or 1, or 0 for none"
	case m.Kind == KindWeight && d < 0:
		return "a weight is at least 0"
	case m.Kind == KindChoice && !(isCount(d) && d >= -1 && d < float64(len(m.Choices))):
		return "the default of a choice is its position, or -1"
	}
	return ""
}

func isFinite(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }

func isCount(f float64) bool { return f == math.Trunc(f) && math.Abs(f) <= MaxCount }

func distinct(texts []string) bool {
	seen := make(map[string]bool, len(texts))
	for _, text := range texts {
		if seen[text] || !utf8.ValidString(text) {
			return false
		}
		seen[text] = true
	}
	return true
}
