// Package changelog reads and opens what a deployment keeps in its changelog topic: the manifest, the incarnation of
// each partition, and the newest sealed state.
//
// A View is what one partition of the topic says, with the help of a local copy. OpenSaved opens a sealed state of it.
// WriteManifests is the only function that writes; sealed states are written by package transaction.
package changelog
