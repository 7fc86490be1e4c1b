//go:build !amd64 || purego

package noise

// words produces the words of a seed in order.
type words = portableWords
