// Package terms has what CheckTerms must find, and what it must leave alone.
package terms

import (
	"oriel/mechanisms"
	"oriel/mechanisms/protection"
)

func asks(t, other protection.Terms) (n int) {
	if _, ok := t.Scope.(protection.Window); ok { // want
		n++
	}
	switch t.Unit.(type) { // want
	case protection.User:
		n++
	}
	switch scope := t.Scope.(type) { // want
	case protection.Decay:
		n += int(scope.Steps)
	}
	switch t.Scope { // want
	case protection.PerStep{}:
		n++
	}
	if t.Scope == (protection.PerStep{}) || other.Unit != t.Unit { // want want
		n++
	}
	if t == other || t.Scope == nil {
		n++
	}
	if memory, decays := t.Scope.Memory(); decays {
		n += int(memory)
	}
	switch {
	case t.Scope.ForLife():
		n++
	}
	facts, _ := mechanisms.FactsOf("blt")
	if facts.Structure == mechanisms.Filter || facts.Filters() { // want
		n++
	}
	var text any = n
	if _, ok := text.(protection.Scope); ok {
		n++
	}
	return n
}

var _ = asks
