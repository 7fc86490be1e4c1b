// Package mechtest opens streams for tests: without noise, so that a test sees exact sums, or with a planted fault, so
// that a test of privacy can be shown to fail. Only tests import it; noise cannot be switched off anywhere else.
//
//	stream := mechtest.ZeroStream(t, mechtest.Config(3))
//	stream.Add(noise.Identity{Offset: 1}, []float64{0.5, 0, 0})
package mechtest
