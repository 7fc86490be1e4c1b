// Package envfile reads files of settings, NAME=value a line, as --env-file names them.
package envfile
