package order

// Entry says that a partition of the input has reached an end.
type Entry struct {
	Partition int32
	End       int64 // the partition's stable end: exclusive
	Epoch     int32 // of the leader that said so
}

// Range is what an entry that counts adds to the order: offsets of one partition.
type Range struct {
	Partition int32
	From, To  int64
	Epoch     int32
}

// Log is what records of an order log are bound to: the key of the deployment, the topic that holds them, and the input
// that they order.
type Log struct {
	Key          [32]byte
	Topic, Input [16]byte
}
