// Package state keeps the private state that a stream must remember. It seals the state of a machine for the changelog,
// and wraps the keys for sealing. Package frame has the parts that all records share, package keys the secrets, and
// package local a local copy of the records.
//
//	manifest     one clear-text configuration per deployment, with the wrapped name key; on each changelog partition
//	incarnation  a stream's life: public facts, frozen params, and the seal key wrapped by the master key
//	sealed state position (clear, authenticated) and machine state (encrypted); fixed width, rewritten at each commit
//	part         a slice of a sealed state that is larger than MaxValue
//	users        ids of a period's users, in sealed parts that a state counts; deleted when the period has ended
//	schemas      the writers' schemas that decode events: clear, and authenticated
//	amendment    public settings that were appended to the params of a stream: clear, and authenticated
//
// Guarantee: opening a record returns exactly the bytes that were sealed for that stream, incarnation, partition and
// key version, or only an error. Freshness is not guaranteed: an old sealed state opens. The changelog and the
// committed offset determine which of several states is the newest.
//
// There are two kinds of secrets (see InitialKey). The seal key opens states and derives no noise. The initial key of
// the noise chain is never published, not even wrapped. So a leaked master key opens states, but cannot recompute noise
// of the past.
//
// The AEAD protects a record; its checksum only distinguishes a damaged record (ErrCorrupt) from a record of another
// owner (ErrForeign) and from a wrong key (ErrWrongKey), because each needs a different remedy. DESIGN.md lists the
// formats, and testdata has bytes of each.
//
// Duties of the caller:
//
//  1. One Sealer and one writer per stream; a Sealer is not safe for concurrent use.
//  2. A machine state whose length is public, because the width of a record must not reveal its content.
//
// Cost: sealing is one pass of XChaCha20-Poly1305 and one allocation.
package state
