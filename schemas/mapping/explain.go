package mapping

import (
	"fmt"

	"oriel/schemas"
)

// Problem says what is wrong with the record for which the last Decode returned the code: the member, the code, and
// where the fault stands. It names members and paths of the mapping and no content.
func (d *Decoder) Problem(_ []byte, code schemas.Code) string {
	switch {
	case code == schemas.Filtered && d.failed >= 0:
		where := d.plan.where[d.failed]
		return fmt.Sprintf("%s: ORIEL_MAP keeps records with %s%s%s", code, where.Path, where.Operator, where.Constant)
	case d.failed >= 0:
		t := &d.plan.targets[d.failed]
		return fmt.Sprintf("%s: %s: %s", d.plan.name(t), code, d.explain(t, code))
	case code == schemas.MissingMember && d.events.Lacks() != "":
		return fmt.Sprintf("%s: %s: %s", d.events.Lacks(), code, code.Rule())
	}
	if p, some := d.source.(Placer); some && d.unread && p.Place() != "" {
		return fmt.Sprintf("%s: %s: %s", code, p.Place(), code.Rule())
	}
	return fmt.Sprintf("%s: %s", code, code.Rule())
}

// explain says of a target where it comes from and what stands there.
func (d *Decoder) explain(t *target, code schemas.Code) string {
	if t.at < 0 {
		return code.Rule()
	}
	path, kind := d.plan.paths[t.at], d.values[t.at].Kind
	switch code {
	case schemas.MissingMember:
		return fmt.Sprintf("%s is %s", path, kind)
	case schemas.WrongType:
		return fmt.Sprintf("%s is %s; it must be %s", path, kind, t.form())
	case schemas.UnreadableValue:
		return fmt.Sprintf("%s is %s that does not say %s", path, kind, t.form())
	case schemas.WrongDimension:
		return fmt.Sprintf("the list that holds %s is longer than ORIEL_DIMENSION", path)
	default:
		return fmt.Sprintf("%s: %s", path, code.Rule())
	}
}

// name is that of the feature or member of a target.
func (p *Plan) name(t *target) string {
	if t.feature >= 0 {
		vector, _ := p.config.Body.Vector()
		return vector.Name + "." + t.item.Name
	}
	return p.config.Body.Members[t.member].Name
}

// form is what a target can be read from.
func (t *target) form() string {
	switch {
	case t.as.isTime() && t.item.Clock.unit == 0:
		return "a time of ISO 8601; a number needs epoch"
	case t.as.isTime():
		return "a time"
	case t.choice, t.as == AsText:
		return "a text, a number or a boolean"
	case t.item.Compare != nil:
		return "a number, a text or a boolean to compare"
	case t.as == AsBool:
		return "true or false"
	case t.as == AsNumber || t.item.scales():
		return "a number"
	case t.feature >= 0:
		return "a number, a text or a boolean; of a time as says which part"
	}
	return "a number or a boolean"
}

// String names the kind.
func (k Kind) String() string {
	return [...]string{"absent", "null", "a number", "a text", "a boolean", "a time", "a list, an object or bytes"}[k]
}
