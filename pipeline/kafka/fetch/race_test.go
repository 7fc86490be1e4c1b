//go:build race

package fetch

// slack is the factor by which more may be allocated under the race detector, because sync.Pool then drops buffers at
// random.
const slack = 8
