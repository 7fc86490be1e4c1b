// Package mechtest opens streams for tests: without noise, so that a test sees exact sums, or with a planted fault, to
// show that a test of privacy can fail. Only tests may import it; noise cannot be switched off anywhere else.
//
//	stream := mechtest.ZeroStream(t, mechtest.Config(3))
//	stream.Add(noise.Identity{Offset: 1}, []float64{0.5, 0, 0})
package mechtest
