package service

import "golang.org/x/sys/unix"

// notDumpable makes the process one that the kernel never dumps and that no other process of the same user may trace or
// read the memory of.
func notDumpable() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
