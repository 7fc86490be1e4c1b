//go:build unix

package coredumps

import "syscall"

// noCoreDumps sets the limit on the size of core dumps to 0.
func noCoreDumps() error { return syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
