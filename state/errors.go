package state

import "errors"

// Errors of this package. A caller distinguishes them with errors.Is, because each needs another remedy: another key
// file, an older or newer program, the changelog, another directory, another machine.
var (
	// ErrWrongKey means that the record is intact and was wrapped by another master key.
	ErrWrongKey = errors.New("state: wrong master key")
	// ErrFormat means that the record has an unknown format or an unexpected kind: another version wrote it.
	ErrFormat = errors.New("state: unknown format")
	// ErrCorrupt means that the bytes are not the ones that were written.
	ErrCorrupt = errors.New("state: corrupt")
	// ErrForeign means that the bytes are intact and belong to another deployment, partition, incarnation or key
	// version.
	ErrForeign = errors.New("state: foreign")
	// ErrLocked means that another process, or another Store of this process, has the directory open.
	ErrLocked = errors.New("state: directory in use")
	// ErrFailed means that the local store cannot continue until the process restarts. Nothing is lost, because the
	// changelog has everything.
	ErrFailed = errors.New("state: local store failed")
)
