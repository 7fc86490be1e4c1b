// Package mechtest opens streams for tests: without noise, so that a test gets exact sums, or with a planted fault, to
// show that a privacy test can fail. Only tests may import it; no other package can switch noise off.
//
//	stream := mechtest.ZeroStream(t, mechtest.Config(3))
//	stream.Add(noise.Identity{Offset: 1}, []float64{0.5, 0, 0})
//	stream.Close()
package mechtest
