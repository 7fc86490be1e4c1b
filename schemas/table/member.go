package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/schemas"
)

// member is a member of the body with the columns that give it: one, or those of a vector.
type member struct {
	schemas.Member
	columns []string
}

// compileMembers checks what a mapping gives against the body, each member once.
func (m Mapping) compileMembers(p *plan) error {
	p.labelName, p.featuresName = "label", "features"
	if m.Body.Name == "" {
		if len(m.Members) > 0 {
			return fmt.Errorf("table: %s: the members of events are not known", m.called("members"))
		}
		return nil
	}
	var errs []error
	given := map[string]bool{}
	if m.Label != "" {
		label, some := m.Body.Label()
		switch {
		case !some:
			errs = append(errs, fmt.Errorf("table: %s: events of body %s have no label", m.called("label"), m.Body.Name))
		case p.label != nil && label.Kind != schemas.KindClass:
			errs = append(errs, fmt.Errorf("table: %s: a comparison is true or false, and %s is a number", m.called("label"), label.Name))
		}
		p.labelName, given[label.Name] = label.Name, true
	}
	if len(m.Features) > 0 {
		vector, _ := m.Body.Vector()
		if vector.Kind != schemas.KindFeatures {
			errs = append(errs, fmt.Errorf("table: %s: events of body %s have no named features", m.called("features"),
				m.Body.Name))
		}
		p.featuresName, given[vector.Name] = vector.Name, true
	}
	for _, text := range m.Members {
		got, err := m.compileMember(text)
		if err == nil && given[got.Name] {
			err = fmt.Errorf("table: %s: member %q is given twice", m.called("members"), got.Name)
		}
		errs, given[got.Name] = append(errs, err), true
		p.members = append(p.members, got)
	}
	for _, want := range m.Body.Members {
		if !want.Optional && !given[want.Name] && errors.Join(errs...) == nil {
			errs = append(errs, fmt.Errorf("table: %s: nothing gives the member %q of body %s", m.called("members"), want.Name,
				m.Body.Name))
		}
	}
	return errors.Join(errs...)
}

func (m Mapping) compileMember(text string) (member, error) {
	name, columns, found := strings.Cut(text, "=")
	if !found || name == "" || columns == "" {
		return member{}, fmt.Errorf("table: %s: not a member, =, and a column", m.called("members"))
	}
	i := slices.IndexFunc(m.Body.Members, func(b schemas.Member) bool { return b.Name == name || b.Also == name })
	if i < 0 {
		return member{}, fmt.Errorf("table: %s: events of body %s have no member %q", m.called("members"), m.Body.Name, name)
	}
	got := member{m.Body.Members[i], []string{columns}}
	if isVector(got.Kind) {
		got.columns = strings.Split(columns, ",")
	}
	return got, nil
}

func isVector(k schemas.Kind) bool {
	return k == schemas.KindVector || k == schemas.KindFeatures || k == schemas.KindRelatives
}

// appendMember prints a member; one that may be left out and has no cell is left out.
func (s *source) appendMember(dst []byte, cells []string, m member, columns []int) ([]byte, error) {
	if missing(cells[columns[0]]) && m.Optional && len(columns) == 1 {
		return dst, nil
	}
	dst = appendName(dst, m.Name)
	if !isVector(m.Kind) {
		return s.appendValue(dst, cells, m, columns[0], m.columns[0])
	}
	dst = append(dst, '[')
	for i, column := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = s.appendValue(dst, cells, m, column, m.columns[i]); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func (s *source) appendValue(dst []byte, cells []string, m member, column int, name string) ([]byte, error) {
	fault := func(text string) ([]byte, error) { return dst, s.cellError(column, "members", name, text) }
	text := cells[column]
	if m.Kind == schemas.KindChoice {
		if !m.Open && !slices.Contains(m.Choices, text) {
			return fault("not a choice of member " + m.Name)
		}
		printed, ok := appendJSONString(dst, text) // choices are UTF-8; what an open list lacks may not be
		if !ok {
			return fault("not UTF-8")
		}
		return printed, nil
	}
	f, ok := parseDecimal(text)
	if !ok {
		return fault("missing or not a number")
	}
	if m.Kind == schemas.KindCount && f != math.Trunc(f) {
		return fault("not a whole number")
	}
	if least, most, bounded := m.Bounds(); bounded && !(least <= f && f <= most) {
		return fault("outside the bounds of member " + m.Name)
	}
	if m.Kind == schemas.KindCount {
		return strconv.AppendInt(dst, int64(f), 10), nil
	}
	return schemas.AppendFloat(dst, f), nil
}

// appendName opens a member of the event.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	return append(append(dst, name...), '"', ':')
}
