//go:build race

package fetch

// slack is how much more may be allocated than without the race detector, under which sync.Pool forgets at random.
const slack = 8
