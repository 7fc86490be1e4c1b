// Package memory bounds the memory of Readers: buffers that several batches may refer to, and the budget that bounds
// them.
//
// A Reader takes its Share of the Budget BEFORE it asks a broker or decompresses, and attaches it to the Buffer from
// the Pool. The last Release of the buffer returns the memory to the pool first and then the share to the budget, so
// that the next Reader finds the memory there. A Budget affects when a record is read, never its content.
package memory
