// Package state keeps what a stream must remember and no one may read: it seals the state of a machine for the
// changelog, and wraps the keys that do so. Package local holds a local copy of the records.
//
//	manifest     one clear-text configuration per deployment, with the wrapped name key; on each changelog partition
//	incarnation  a stream's life: public facts, frozen params, and the seal key wrapped by the master key
//	sealed state position (clear, authenticated) and machine state (encrypted); fixed width, rewritten at each commit
//	part         a slice of a sealed state that is larger than MaxValue
//	schemas      what events of a registry's writers are decoded by: clear, and authenticated
//
// Guarantee: what is opened is byte for byte what was sealed for that stream, incarnation, partition and key
// version, or an error comes back and nothing else. Freshness is not in it: an old sealed state opens. Which of
// several is the last one is what the changelog and the committed offset say.
//
// Two secrets, see InitialKey: the seal key opens states and derives no noise; the initial key of the noise chain
// is never published, not even wrapped. A master key that leaks opens states, and cannot recompute noise of the past.
//
// Every record starts with a format byte and a kind byte and ends with a CRC-32C. The checksum protects nothing: it
// only tells a damaged record (ErrCorrupt) from a record of someone else (ErrForeign) and from a wrong key
// (ErrWrongKey), which call for different help. The AEAD decides. Integers are little-endian; variable fields
// follow their length as four bytes. The bytes of each format are in testdata and do not change.
//
// What the caller owes:
//  1. One Sealer and one writer per stream; a Sealer is not safe for concurrent use.
//  2. A machine state of constant length: the width of a record must not tell what is inside.
//
// Cost: sealing is one pass of XChaCha20-Poly1305 and one allocation.
package state
