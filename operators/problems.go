package operators

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/schemas/text"
)

// Problems collects all problems of the settings, each prefixed with the name of its variable. The zero value has none.
type Problems struct {
	broken   map[string]bool
	reported map[string]bool
	errs     []error
}

// Break reports a value that is missing or cannot be read. Later problems of the same variable are dropped, because
// they would concern a value that the user did not mean.
func (p *Problems) Break(name, format string, args ...any) {
	p.Want(name, false, format, args...)
	if p.broken == nil {
		p.broken = map[string]bool{}
	}
	p.broken[name] = true
}

// errNoFlag is the problem of a value that is neither true nor false.
var errNoFlag = errors.New("not true or false")

// Malformed reports a value that cannot be read. The message shows the value, because settings are public and secrets
// are kept in files.
func (p *Problems) Malformed(name, value string, problem error, unit string) {
	s, hint := problem.Error(), ""
	if unit != "bool" { // for a bool, the problem already says the unit
		s += " (unit: " + unit + ")"
	}
	if point := strings.Replace(value, ",", ".", 1); point != value && unit != "bool" && len(value) < 32 {
		if _, err := text.ParseNumber(point); err == nil {
			hint = "; with a point it is " + point
		}
	}
	p.Break(name, "%s: %s%s", text.Shown([]byte(value)), s, hint)
}

// Want reports the problem described by format if ok is false.
func (p *Problems) Want(name string, ok bool, format string, args ...any) {
	if !ok && !p.broken[name] {
		if p.reported == nil {
			p.reported = map[string]bool{}
		}
		p.reported[name] = true
		p.errs = append(p.errs, fmt.Errorf("%s%s: "+format, append([]any{Prefix, name}, args...)...))
	}
}

// Sound reports whether the variables have no problem so far. A check of a value computed from others must ask it
// first, because its message would otherwise blame the wrong variable.
func (p *Problems) Sound(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return p.reported[name] })
}

// OneOf reports a problem if value is not one of values.
func (p *Problems) OneOf(name, value string, values ...string) {
	if !slices.Contains(values, value) {
		p.Break(name, "%s: not one of %s", text.Shown([]byte(value)), strings.Join(values, ", "))
	}
}

// Positive reports a problem if value is not positive and finite.
func (p *Problems) Positive(name string, value float64) {
	// This also refuses NaN.
	p.Want(name, value > 0 && !math.IsInf(value, 1), "%g: not positive and finite", value)
}

// Add reports errors whose texts already name their variables.
func (p *Problems) Add(errs ...error) { p.errs = append(p.errs, errs...) }

// Err returns all problems as one error, or nil if there are none.
func (p *Problems) Err() error { return errors.Join(p.errs...) }
