// Package transaction builds and commits what a partition makes readable.
//
// A Builder walks over records and fills a Transaction. A Committer sends it: decisions, sealed verdicts, the sealed
// state and the input offset in one Kafka transaction, and after it the local store. The fields of a Transaction say
// what must be sent BEFORE what.
//
// While one Transaction is committed, the Builder fills the next. Both share the memory of one pool.
package transaction
