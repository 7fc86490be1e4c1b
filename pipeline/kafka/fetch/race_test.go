//go:build race

package fetch

// slack is the factor by which allocations may exceed their limit under the race detector, because sync.Pool then drops
// buffers at random.
const slack = 8
