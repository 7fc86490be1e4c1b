// Package memory bounds what Readers hold: buffers that several batches may alias, and the budget that they count in.
//
// A Reader takes its Share of the Budget BEFORE it asks a broker or decompresses, and puts it into the Buffer that the
// Pool gives. The last Release of the buffer returns the memory to the pool first and the share to the budget after it,
// so that the next Reader finds the memory there. A Budget decides when a record is read, never what the record is.
package memory
