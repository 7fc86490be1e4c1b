package mapping

import "oriel/schemas"

// AppendOwn appends the event of the record decoded last, whose code was schemas.OK, in the body's own form: one line
// of JSON that the body's own decoder turns into the same event. It holds contents of the record.
func (d *Decoder) AppendOwn(dst []byte) []byte {
	dst = append(dst, '{')
	if d.plan.named {
		vector, _ := d.plan.config.Body.Vector()
		dst = append(appendName(dst, vector.Name), '{')
		for i := range d.plan.targets {
			if t := &d.plan.targets[i]; t.feature >= 0 {
				dst = d.appendTarget(dst, t)
			}
		}
		dst = append(dst, '}')
	}
	for i := range d.plan.targets {
		if t := &d.plan.targets[i]; t.feature < 0 && !t.beyond {
			dst = d.appendTarget(dst, t)
		}
	}
	return append(dst, '}')
}

// appendTarget prints a feature or a member, if the record has it, or a coordinate with the brackets around all of
// them.
func (d *Decoder) appendTarget(dst []byte, t *target) []byte {
	v, code := d.value(t)
	if code != schemas.OK || v.Kind <= Null {
		return dst
	}
	name := t.item.Name
	if t.feature < 0 {
		name = d.plan.config.Body.Members[t.member].Name
	}
	switch {
	case !t.vector:
		return appendValue(appendName(dst, name), v)
	case t.coordinate == 0:
		dst = append(appendName(dst, name), '[')
	default:
		dst = append(dst, ',')
	}
	dst = appendValue(dst, v)
	if t.coordinate == d.plan.config.Dimension-1 {
		dst = append(dst, ']')
	}
	return dst
}

// appendName prints the name of a member of an object that is open.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(schemas.AppendString(dst, name), ':')
}

func appendValue(dst []byte, v *Value) []byte {
	switch {
	case v.Kind == Number:
		return schemas.AppendFloat(dst, v.Number)
	case v.Kind == Text:
		return schemas.AppendString(dst, string(v.Text))
	case v.Number == 1:
		return append(dst, "true"...)
	default:
		return append(dst, "false"...)
	}
}
