package mapping

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"

	"oriel/schemas/text"
)

// Value is the value at a path of a record, in a form shared by all encodings.
type Value struct {
	Kind    Kind
	Local   bool    // for a Time: it is a date, or a date with a time, by the clock of an unnamed place, and no instant
	Nanos   int32   // for a Time: nanoseconds after Seconds, 0 to 999999999
	Number  float64 // for a Number; for a Bool 1 or 0
	Seconds int64   // for a Time: since 1970-01-01T00:00:00, of UTC or, if Local, of the place's clock
	Text    []byte  // for a Text: UTF-8, valid until the next Fill
}

// Kind is the type of a Value.
type Kind uint8

// The kinds.
const (
	Absent Kind = iota // there is no value
	Null
	Number // a correctly rounded finite number; other numbers give text.NumberOverflow
	Text   // a string, or the symbol of an enum
	Bool
	Time  // an instant or a local time, from a schema's logical type; JSON has none
	Other // any other value: a list, an object, bytes
)

// Kinds is a set of kinds of values that are not missing: those above Null.
type Kinds uint8

// Add adds a kind. Absent and Null add nothing.
func (s *Kinds) Add(k Kind) {
	if k > Null {
		*s |= 1 << k
	}
}

// Has reports whether a kind is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }

// Truth returns the Value of true or false.
func Truth(is bool) Value {
	v := Value{Kind: Bool}
	if is {
		v.Number = 1
	}
	return v
}

// Finite returns text.NumberOverflow if a value is a number that JSON cannot represent: infinite, or NaN.
func Finite(values []Value) text.Code {
	for i := range values {
		if v := &values[i]; v.Kind == Number && (math.IsInf(v.Number, 0) || math.IsNaN(v.Number)) {
			return text.NumberOverflow
		}
	}
	return text.OK
}

// Source reads values from records of one encoding. It is made for a list of distinct paths.
type Source interface {
	// Fill writes the value at each path to values, which has an element for each path, and overwrites all of them.
	// With any code except text.OK values are unspecified. It must not allocate in steady state, and its memory must
	// be bounded for every record.
	Fill(values []Value, record []byte) text.Code
}

// Typed is a source of records of one schema.
type Typed interface {
	Source

	// Kinds returns the kinds of values that records can have at each path.
	Kinds() []Kinds
}

// PlacedSource is a source that depends on the position of a record in the input.
type PlacedSource interface {
	Source

	// At sets the partition and offset, in the input, of the next record; they are 0 before the first call.
	At(partition int32, offset int64)
}

// Placer is a Source that knows the position of the fault in the record of the last Fill.
type Placer interface {
	// Place returns the path at which the record violates its encoding, or the id of a schema that is not known; "" if
	// neither applies.
	Place() string
}

// OpenSource makes a Source for paths. If it can know that no record has a value at a path, it refuses and names the
// path.
type OpenSource func(paths []Path) (Source, error)

const operatorBytes = "=!<>"

// Comparison compares a value with a constant.
type Comparison struct {
	Path     Path
	Operator string // one of = != > >= < <=
	Constant string

	number   float64
	isNumber bool
}

// ParseComparison splits at the first operator. The path must not contain an operator, and the constant must not start
// with one, so that == is refused instead of never being true. Spaces around path and constant are dropped.
func ParseComparison(s string) (Comparison, error) {
	form := errors.New("not a comparison: it must be a path, one of = != > >= < <=, and a constant")
	k := strings.IndexAny(s, operatorBytes)
	if k < 0 {
		return Comparison{}, form
	}
	c := Comparison{Operator: s[k : k+1]}
	if rest := s[k+1:]; c.Operator != "=" && strings.HasPrefix(rest, "=") {
		c.Operator += "="
	}
	rest := s[k+len(c.Operator):]
	if c.Operator == "!" || strings.IndexAny(rest, operatorBytes) == 0 {
		return Comparison{}, form
	}
	c.Constant = strings.TrimSpace(rest)
	c.number, c.isNumber = text.ParseDecimal([]byte(c.Constant))
	if c.Constant == "" && c.ordered() {
		return Comparison{}, errors.New("nothing is above or below a missing constant")
	}
	if !c.isNumber && c.ordered() && almostNumber(c.Constant) {
		return Comparison{}, errors.New("the constant must be a finite number in decimal digits, such as 1000 or 2.5e3, " +
			"because another spelling is compared as a text, and 5 is above the text 1_000")
	}
	var err error
	c.Path, err = ParsePath(strings.TrimSpace(s[:k]))
	return c, err
}

// almostNumber reports whether a text that ParseDecimal refuses is probably meant as a number: 1_000, 1,000, 0x10,
// 1e400 or inf.
func almostNumber(text string) bool {
	_, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		_, err = strconv.ParseFloat(strings.NewReplacer("_", "", ",", "", "'", "", " ", "").Replace(text), 64)
	}
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// ordered reports whether the comparison is one of > >= < <=.
func (c *Comparison) ordered() bool { return c.Operator[0] == '<' || c.Operator[0] == '>' }

// missing reports whether there is no value to compare: it is absent, null or an empty text. No other text is missing,
// because each could be data: NA is also Namibia.
func (v *Value) missing() bool { return v.Kind <= Null || v.Kind == Text && len(v.Text) == 0 }

// Compares reports whether a value can be compared. No text without a number is above or below a number, although its
// bytes are: n/a would be above 15.
func (c *Comparison) Compares(v *Value) bool {
	switch {
	case !c.ordered() || !c.isNumber || v.Kind == Number || v.missing():
		return true
	case v.Kind == Text:
		_, isNumber := text.ParseDecimal(v.Text)
		return isNumber
	}
	return false
}

// Holds reports whether a value has that relation to the constant. A missing value (absent, null or an empty text)
// equals only the empty constant, and is neither above nor below any constant; so is a value that Compares excludes.
// Value and constant are compared as numbers if both are numbers, otherwise as bytes; a boolean is the text true or
// false. A list or an object is never equal.
func (c *Comparison) Holds(v *Value) bool {
	missing := v.missing()
	if missing || c.Constant == "" {
		same := missing && c.Constant == ""
		return c.Operator == "=" && same || c.Operator == "!=" && !same
	}
	if !c.Compares(v) {
		return false
	}
	order := 0
	number, isNumber := v.Number, v.Kind == Number
	if v.Kind == Text && c.isNumber {
		number, isNumber = text.ParseDecimal(v.Text)
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
		order = compareText(text.AppendFloat(digits[:0], v.Number), c.Constant)
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
