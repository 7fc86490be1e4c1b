package operators

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Problems collects all that is wrong with settings, each problem behind the name of its variable. The zero value has
// none.
type Problems struct {
	broken map[string]bool
	errs   []error
}

// Break reports a value that is missing or cannot be read. Nothing else is said of its variable: what would be checked
// is not what was meant.
func (p *Problems) Break(name, format string, args ...any) {
	p.Want(name, false, format, args...)
	if p.broken == nil {
		p.broken = map[string]bool{}
	}
	p.broken[name] = true
}

// Malformed reports a value that is not of its kind, such as "a number".
func (p *Problems) Malformed(name, kind, unit string) {
	if unit == "bool" { // says what the kind says
		p.Break(name, "not %s", kind)
		return
	}
	p.Break(name, "not %s (unit: %s)", kind, unit)
}

// Want reports what does not hold of a variable.
func (p *Problems) Want(name string, ok bool, format string, args ...any) {
	if !ok && !p.broken[name] {
		p.errs = append(p.errs, fmt.Errorf("%s%s: "+format, append([]any{Prefix, name}, args...)...))
	}
}

// OneOf wants a value to be among those listed.
func (p *Problems) OneOf(name, value string, values ...string) {
	p.Want(name, slices.Contains(values, value), "%q: not one of %s", value, strings.Join(values, ", "))
}

// Positive wants a value to be above 0 and finite.
func (p *Problems) Positive(name string, value float64) {
	p.Want(name, value > 0 && !math.IsInf(value, 1), "%g: not positive and finite", value) // also catches NaN
}

// Add reports an error that names its variable itself.
func (p *Problems) Add(errs ...error) { p.errs = append(p.errs, errs...) }

// Err is nil, or all problems.
func (p *Problems) Err() error { return errors.Join(p.errs...) }
