// Package takeover gives a partition one owner: it fences earlier owners, restores the stream where their last
// transaction ended, or opens the first incarnation.
//
// Run reads from top to bottom in takeover.go. It needs a few Ports and returns data (Owned). It commits no records of
// the deployment: transactions that must be committed before the first event is fetched are in Owned.Due.
//
// A coordinator that crashes may commit a transaction in some topics and abort it in others. So a take-over compares
// decisions, record statuses and group offset with the state, each separately, and builds one transaction that brings
// all of them to the same end. Its actions are a function of public facts: offsets, indices and published decisions.
package takeover
