// Package envfile reads the settings files of --env-file, which have one NAME=value on each line.
package envfile
