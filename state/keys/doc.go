// Package keys holds the secrets of a deployment. A MasterKey, read from a file, wraps the other keys, so that it can
// be rotated without touching a sealed state. A Secret seals the states of one stream. The NameKey of a deployment
// hides the names of its streams, and from it come the keys that authenticate public records. No key prints itself,
// whatever the verb.
package keys
