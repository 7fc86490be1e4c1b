package operators

// Padded is an operator that can be asked for more noise than its contributions need, for example for the noise of a
// paper. `oriel plan` then warns about none of it.
type Padded interface {
	Configured

	// Padded reports whether the settings ask for such noise.
	Padded() bool
}
