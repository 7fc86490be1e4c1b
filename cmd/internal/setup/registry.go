package setup

import (
	"context"
	"fmt"
	"strings"

	"oriel/cmd/internal/recordschema"
	"oriel/cmd/internal/schemaregistry"
)

// Fetch returns the encoding, completed with the registry's versions of a subject.
func (e Encoding) Fetch(ctx context.Context, c schemaregistry.Config, subject string) (Encoding, error) {
	client, err := schemaregistry.New(c)
	if err != nil {
		return e, err
	}
	versions, err := client.Versions(ctx, subject)
	if err != nil {
		return e, err
	}
	switch kind := versions[len(versions)-1].Type; kind {
	case "AVRO", "PROTOBUF":
		e.Format, e.Framing, e.Registry, e.Subject = strings.ToLower(kind), recordschema.Confluent, c.URL, subject
	default:
		e.Format = recordschema.JSON
		return e, nil
	}
	for _, v := range versions {
		if !strings.EqualFold(v.Type, e.Format) {
			return e, fmt.Errorf("schema registry: %s is %s, and the newest version %s", v, v.Type, e.Format)
		}
		if e.Schemas.Find(v.ID) == nil {
			e.Schemas = append(e.Schemas, v.Schema)
		}
	}
	return e, nil
}
