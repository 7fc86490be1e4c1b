package operators

import (
	"oriel/mechanisms/noise"
	"oriel/schemas/event"
)

// Record is an input record after decoding. A machine passes Identity on to the noise and never reads it.
type Record struct {
	Identity noise.Identity
	Key      []byte // read only if Events.Keyed: a public name, for example of an action; valid during Add
	Event    event.Event
	Null     bool // malformed, over a limit or not accepted: counts in its step and contributes nothing
}
