// Package presence attacks streams that count names: it guesses from published lists whether a unit is present, for
// names of nobody else and for names that others have too, and bounds the unit's loss from below.
package presence
