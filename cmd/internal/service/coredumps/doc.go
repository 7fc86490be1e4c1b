// Package coredumps keeps the events and keys in a process's memory out of core dumps, on each system in its own way.
package coredumps

import (
	"errors"
	"fmt"
)

// Forbid forbids core dumps of this process. Every command calls it, because nearly all commands hold
// events or keys. The limit on the size of dumps is not enough, because the kernel ignores it when it pipes dumps to a
// program such as systemd-coredump or apport.
func Forbid() error {
	if err := errors.Join(noCoreDumps(), notDumpable()); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}
