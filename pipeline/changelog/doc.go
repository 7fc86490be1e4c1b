// Package changelog reads and opens the records of a deployment's changelog topic: the manifest, the incarnation of
// each partition, and the newest sealed state.
//
// A View holds the records of one partition of the topic, read with the help of a local copy. OpenSaved opens a sealed
// state. WriteManifests is the only function here that writes; package transaction writes sealed states.
package changelog
