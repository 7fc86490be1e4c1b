package table

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

const operatorBytes = "=!<>"

// comparison of a column with a constant.
type comparison struct {
	column   string
	operator string
	constant string
	number   float64
	isNumber bool
}

// parseComparison splits at the first operator: the column holds none, and the constant does not start with one, so
// that == is refused instead of never being true. Spaces around both are dropped.
func parseComparison(text string) (comparison, bool) {
	k := strings.IndexAny(text, operatorBytes)
	if k < 0 {
		return comparison{}, false
	}
	c := comparison{column: strings.TrimSpace(text[:k]), operator: text[k : k+1]}
	if rest := text[k+1:]; c.operator != "=" && strings.HasPrefix(rest, "=") {
		c.operator += "="
	}
	rest := text[k+len(c.operator):]
	c.constant = strings.TrimSpace(rest)
	c.number, c.isNumber = parseDecimal(c.constant)
	return c, c.operator != "!" && c.column != "" && strings.IndexAny(rest, operatorBytes) != 0
}

// holds says whether the cell stands in that relation to the constant.
func (c *comparison) holds(cell string) bool {
	if missing(cell) || missing(c.constant) {
		same := missing(cell) && missing(c.constant)
		return c.operator == "=" && same || c.operator == "!=" && !same
	}
	order := 0
	if number, ok := parseDecimal(cell); ok && c.isNumber {
		order = cmp.Compare(number, c.number)
	} else {
		order = cmp.Compare(cell, c.constant)
	}
	switch c.operator {
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

func missing(cell string) bool {
	return cell == "" || cell == "NA"
}

// parseDecimal reads a finite decimal number. strconv also knows hexadecimal, underscores, Inf and NaN, which no
// column of numbers means.
func parseDecimal(cell string) (float64, bool) {
	for k := range len(cell) {
		if c := cell[k]; (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(cell, 64)
	return f, err == nil && !math.IsInf(f, 0)
}
