package licenses

import _ "embed"

// Notice names every module that a released binary links, with its licence and notices, and those of Go. TestNotice
// checks that it covers the modules that binaries link.
//
//go:embed NOTICE
var Notice string
