package avro

import "slices"

// counterpart returns the type in r, perhaps a union, by which values of the writer's record or enum t are read, or
// nil. branches are those of the writer's union that has t.
//
// Full names count first, then aliases. An unqualified name counts only where no other type of both unions has it,
// because one type must never get the defaults of another. The specification would take the first of several.
func (t *typ) counterpart(r *typ, branches []*typ) *typ {
	all := []*typ{r}
	if r.kind == unionKind {
		all = r.branches
	}
	var found *typ
	for _, matches := range []func(own *typ) bool{
		func(own *typ) bool { return own.name == t.name },
		func(own *typ) bool { return slices.Contains(own.aliases, t.name) },
		func(own *typ) bool { return slices.Contains(t.aliases, own.name) },
	} {
		k := slices.IndexFunc(all, func(own *typ) bool { return own.kind == t.kind && matches(own) })
		if k >= 0 {
			return all[k]
		}
	}
	alike := func(other *typ) bool { return other.kind == t.kind && other.unqualified() == t.unqualified() }
	for _, own := range all {
		if alike(own) {
			if found != nil {
				return nil
			}
			found = own
		}
	}
	if slices.ContainsFunc(branches, func(other *typ) bool { return other != t && alike(other) }) {
		return nil
	}
	return found
}

// symbol returns the reader's symbol for a symbol of the writer: the same one, or the default of the reader's enum, or
// nil. Without an enum of the reader, each symbol is its own.
func (t *typ) symbol(name string) []byte {
	switch {
	case t == nil || slices.Contains(t.symbols, name):
		return []byte(name)
	case t.fallback != "":
		return []byte(t.fallback)
	}
	return nil
}

// find returns the index of the writer's field that a name refers to, or −1, and the reader's field of that name, if
// any.
func (t *typ) find(name string, reader *typ) (k int, own *field) {
	names := []string{name}
	if reader != nil {
		if at, _ := reader.find(name, nil); at >= 0 {
			own = &reader.fields[at]
			names = append([]string{own.name}, own.aliases...)
		}
	}
	for _, one := range names {
		if k = slices.IndexFunc(t.fields, func(f field) bool { return f.name == one }); k >= 0 {
			return k, own
		}
	}
	return slices.IndexFunc(t.fields, func(f field) bool { return slices.Contains(f.aliases, names[0]) }), own
}

// like returns the type, or the branch of a union, that has this kind, or nil.
func (t *typ) like(k kind) *typ {
	if t == nil || t.kind == k {
		return t
	}
	for _, b := range t.branches {
		if b.kind == k {
			return b
		}
	}
	return nil
}
