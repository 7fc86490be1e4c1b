//go:build !amd64 || purego

package noise

// words are the words of a seed, in order.
type words = portableWords
