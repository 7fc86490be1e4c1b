package licenses

import _ "embed"

// Notice names every module that a released binary links, with its licence and notices, and Go's own. TestNotice keeps
// it equal to the modules of go.mod.
//
//go:embed NOTICE
var Notice string
