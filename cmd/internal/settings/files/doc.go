// Package files reads what settings name: documents, certificates, one-line secrets, and the master key, which a
// command may print in place of a file. Errors quote nothing that a file or a command contains.
package files
