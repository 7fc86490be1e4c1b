package state

import "errors"

// The reasons for which this package refuses. A caller tells them apart with errors.Is, because each calls for
// something else: another key file, an older or newer program, the changelog, another directory, another machine.
var (
	// ErrWrongKey means that the record is whole and was wrapped by another master key.
	ErrWrongKey = errors.New("state: wrong master key")
	// ErrFormat means that the record has a format or a kind that is not asked for: another version wrote it.
	ErrFormat = errors.New("state: unknown format")
	// ErrCorrupt means that the bytes are not those that were written.
	ErrCorrupt = errors.New("state: corrupt")
	// ErrForeign means that the bytes are whole and belong to another deployment, partition, incarnation or key version.
	ErrForeign = errors.New("state: foreign")
	// ErrLocked means that another process, or another Store of this one, has the directory open.
	ErrLocked = errors.New("state: directory in use")
	// ErrFailed means that the local store cannot go on until the process starts again. The changelog has everything.
	ErrFailed = errors.New("state: local store failed")
)
