//go:build unix

package local

import "golang.org/x/sys/unix"

// access returns an error unless this process may create files in a directory.
func access(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
