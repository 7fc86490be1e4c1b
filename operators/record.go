package operators

import (
	"oriel/mechanisms/noise"
	"oriel/schemas"
)

// Record is an input record after decoding. A machine passes Identity on to the noise and never reads it.
type Record struct {
	Identity noise.Identity
	Key      []byte // the record key, if Events.Keyed: a public name, for example of an action; valid during Add
	Event    schemas.Event
	Null     bool // malformed, over limit, or not accepted: takes its place with the neutral element; Event is not read
}
