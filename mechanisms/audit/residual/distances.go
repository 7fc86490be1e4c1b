package residual

import "slices"

// distances returns which distances of two of n things are looked at: all up to near, powers of two and their
// neighbours, and the given ones.
func distances(n, near int, more ...int) []int {
	var out []int
	for d := 1; d <= near; d++ {
		out = append(out, d)
	}
	for d := 1; d < n; d *= 2 {
		out = append(out, d-1, d, d+1)
	}
	out = append(out, more...)
	out = slices.DeleteFunc(out, func(d int) bool { return d < 1 || d >= n })
	slices.Sort(out)
	return slices.Compact(out)
}
