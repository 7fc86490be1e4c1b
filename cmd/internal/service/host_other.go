//go:build !linux

package service

// notDumpable does nothing: other kernels keep to the limit on core dumps.
func notDumpable() error { return nil }
