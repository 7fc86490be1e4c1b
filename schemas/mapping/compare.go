package mapping

import (
	"cmp"
	"errors"
	"strings"

	"oriel/schemas"
)

const operatorBytes = "=!<>"

// Comparison is one of a value with a constant.
type Comparison struct {
	Path     Path
	Operator string // = != > >= < <=
	Constant string

	number   float64
	isNumber bool
}

// ParseComparison splits at the first operator: the path holds none, and the constant does not start with one, so that
// == is refused instead of never being true. Spaces around both are dropped.
func ParseComparison(text string) (Comparison, error) {
	form := errors.New("not a path, one of = != > >= < <=, and a constant")
	k := strings.IndexAny(text, operatorBytes)
	if k < 0 {
		return Comparison{}, form
	}
	c := Comparison{Operator: text[k : k+1]}
	if rest := text[k+1:]; c.Operator != "=" && strings.HasPrefix(rest, "=") {
		c.Operator += "="
	}
	rest := text[k+len(c.Operator):]
	if c.Operator == "!" || strings.IndexAny(rest, operatorBytes) == 0 {
		return Comparison{}, form
	}
	c.Constant = strings.TrimSpace(rest)
	c.number, c.isNumber = schemas.ParseDecimal([]byte(c.Constant))
	if Missing(c.Constant) && c.Operator != "=" && c.Operator != "!=" {
		return Comparison{}, errors.New("nothing is above or below a missing constant")
	}
	var err error
	c.Path, err = ParsePath(strings.TrimSpace(text[:k]))
	return c, err
}

// Missing reports whether a text says that there is no value, as a cell of a table does.
func Missing(text string) bool { return text == "" || text == "NA" }

// Holds says whether a value stands in that relation to the constant. What is missing (absent, null, or an empty text
// or NA) equals only a missing constant, and is neither above nor below anything. Two sides compare as numbers if both
// are numbers, else as bytes; a boolean is the text true or false. A list or an object equals nothing.
func (c *Comparison) Holds(v *Value) bool {
	missing := v.Kind <= Null || v.Kind == Text && Missing(string(v.Text))
	if missing || Missing(c.Constant) {
		same := missing && Missing(c.Constant)
		return c.Operator == "=" && same || c.Operator == "!=" && !same
	}
	order := 0
	number, isNumber := v.Number, v.Kind == Number
	if v.Kind == Text && c.isNumber {
		number, isNumber = schemas.ParseDecimal(v.Text)
	}
	switch {
	case isNumber && c.isNumber:
		order = cmp.Compare(number, c.number)
	case v.Kind == Text:
		order = compareText(v.Text, c.Constant)
	case v.Kind == Bool && v.Number == 1:
		order = cmp.Compare("true", c.Constant)
	case v.Kind == Bool:
		order = cmp.Compare("false", c.Constant)
	case v.Kind == Number:
		var digits [64]byte
		order = compareText(schemas.AppendFloat(digits[:0], v.Number), c.Constant)
	default:
		return c.Operator == "!="
	}
	switch c.Operator {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

func compareText(text []byte, constant string) int {
	switch {
	case string(text) == constant:
		return 0
	case string(text) < constant:
		return -1
	}
	return 1
}
