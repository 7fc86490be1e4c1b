//go:build !linux

package service

// notDumpable does nothing, because other kernels always apply the limit on core dumps.
func notDumpable() error { return nil }
