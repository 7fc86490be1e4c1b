package operators

import (
	"oriel/mechanisms"
	"oriel/schemas"
)

// Lasting are the members by which decisions say what holds for ever: the memory, where sums decay, and the window of
// users. The window that such decisions state is 0. Operators that can have a memory give them with their Extras, and
// AppendLasting's values in the same place.
func (c Common) Lasting() []schemas.Extra {
	if c.Memory == 0 {
		return nil
	}
	all := []schemas.Extra{{
		Name: "memory", Kind: schemas.ExtraNumber, Text: "H: what a step says counts for 1 − 1/H of it a step later.",
	}}
	if c.Users > 0 {
		all = append(all, schemas.Extra{
			Name: "user_window", Kind: schemas.ExtraNumber,
			Text: "Steps: epsilon and delta are of all events of a user among any so many steps, in all decisions there will ever be.",
		})
	}
	return all
}

// AppendLasting appends the values of Lasting.
func AppendLasting(dst []schemas.ExtraValue, stream *mechanisms.Stream) []schemas.ExtraValue {
	for _, steps := range []uint64{stream.Memory(), stream.UserWindow()} {
		if steps > 0 {
			dst = append(dst, schemas.ExtraValue{Number: float64(steps)})
		}
	}
	return dst
}
