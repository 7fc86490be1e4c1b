// Package transaction builds and commits the Kafka transactions that publish a partition's decisions.
//
// A Builder walks over records and fills a Transaction. A Committer sends it: decisions, sealed statuses, the sealed
// state and the input offset in one Kafka transaction, and after it the local store. The fields of a Transaction state
// which parts must be sent BEFORE which others.
//
// While one Transaction is committed, the Builder fills the next. Both share the memory of one pool.
package transaction
