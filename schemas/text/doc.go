// Package text reads and writes the texts of which events and decisions consist: JSON by RFC 8259 with its numbers and
// strings, the sets of names of an object, numbers that people write, and NDJSON lines. A Code is the rule that a
// record breaks.
//
// Numbers follow JSON's grammar and are rounded correctly; overflow is a fault, underflow is not. Arrays and objects
// are nested at most MaxDepth deep. Scanning allocates nothing, except for strings with escapes. No text of this
// package quotes a payload, except Shown and Path: a Code has a fixed name and a fixed rule.
package text
