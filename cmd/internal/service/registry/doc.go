// Package registry has the work of a deployment with its schema registry: it freezes the schemas of the records,
// compares them with the registry while the service runs, and registers the schema of decisions.
package registry

import (
	"oriel/cmd/internal/schemaregistry"
	"oriel/cmd/internal/settings"
)

func client(s settings.Settings) (*schemaregistry.Client, error) {
	config, err := s.Registry()
	if err != nil {
		return nil, err
	}
	return schemaregistry.New(config)
}
