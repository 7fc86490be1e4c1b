package state

// Store is the local copy of the changelog: per partition, the newest record of each key. A take-over reads it, and
// each commit updates it AFTER its Kafka transaction has ended. Package local implements it on disk.
type Store interface {
	// Load returns the records of a partition, sorted by key. After ErrCorrupt the caller must restore them from the
	// changelog with Replace.
	Load(partition int32) ([]Record, error)
	// Follow writes records, which replace those of equal key, all or none. It may wait while the disk is full.
	Follow(partition int32, records []Record) error
	// Replace replaces all records of a partition, all or none.
	Replace(partition int32, records []Record) error
	// MayHaveLost reports whether files of an earlier process could not be used. They may have held any partition.
	MayHaveLost() bool
}
