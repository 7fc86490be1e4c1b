//go:build !linux

package coredumps

// notDumpable does nothing, because other kernels always apply the limit on core dumps.
func notDumpable() error { return nil }
