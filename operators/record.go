package operators

import (
	"oriel/mechanisms/noise"
	"oriel/schemas"
)

// Record is an input record after decoding. A machine passes Identity on to the noise and never reads it.
type Record struct {
	Identity noise.Identity
	// The record key, read only if Events.Keyed; a public name, for example of an action; valid during Add.
	Key   []byte
	Event schemas.Event
	// The record is malformed, over a limit, or not accepted: it counts in its step, contributes nothing, and Event is
	// not read.
	Null bool
}
