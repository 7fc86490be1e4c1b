package mapping

import (
	"errors"
	"fmt"
)

// Readable returns an error if every record of a schema would be a null event. kinds are the kinds of values that its
// records can have at each path. The error lists every reason: a required member has no value, or none that can be
// read, or `where` keeps no record.
func (p *Plan) Readable(kinds []Kinds) error {
	var errs []error
	add := func(place string, path Path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %w", place, &PathError{Path: path, Fault: fmt.Sprintf(format, args...)}))
	}
	for i := range p.where {
		if w := &p.where[i]; kinds[w.at] == 0 && !w.Holds(&Value{}) {
			add(p.mapping.name("where"), p.paths[w.at], "no record of this schema has a value there, so all would be left out")
		}
	}
	for i := range p.targets {
		t := &p.targets[i]
		switch {
		case t.optional, t.beyond, t.at < 0, t.item.Compare != nil && t.item.Compare.Constant == "":
		case kinds[t.at] == 0:
			add(t.item.place, p.paths[t.at], "no record of this schema has a value there, and events%s must have %s", p.of(), p.name(t))
		case !t.reads(kinds[t.at]):
			add(t.item.place, p.paths[t.at], "no record of this schema has %s there", t.form())
		}
	}
	return errors.Join(errs...)
}

// reads reports whether the target can be read from a value of one of the kinds.
func (t *target) reads(kinds Kinds) bool {
	for k := Number; k <= Other; k++ {
		if kinds.Has(k) && t.item.Reads(k) {
			return true
		}
	}
	return false
}
