// Package frame defines the parts that all stored records have in common. A record is a format byte, a kind byte, the
// fields of its kind, and a CRC-32C. Integers are little-endian; a variable field follows its length as four bytes.
//
// A Reader reads the fields of a record whose format, kind and checksum are right. It never allocates more than the
// record holds. Package state defines the fields.
package frame
