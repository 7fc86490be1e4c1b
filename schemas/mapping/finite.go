package mapping

import (
	"math"

	"oriel/schemas"
)

// Finite is schemas.NumberOverflow if a value is a number that JSON cannot say: infinite, or none.
func Finite(values []Value) schemas.Code {
	for i := range values {
		if v := &values[i]; v.Kind == Number && (math.IsInf(v.Number, 0) || math.IsNaN(v.Number)) {
			return schemas.NumberOverflow
		}
	}
	return schemas.OK
}
