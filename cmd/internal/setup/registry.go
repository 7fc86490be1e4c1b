package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"oriel/cmd/internal/schemaregistry"
	"oriel/state"
)

// Fetch completes an encoding by the versions that a registry has of a subject.
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
		e.Format, e.Framing, e.Registry, e.Subject = strings.ToLower(kind), Confluent, c.URL, subject
	default:
		e.Format = JSON
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

// version is one version of a schema, and what reads its files.
type version struct {
	id         uint32
	name       string
	read       func(name string) ([]byte, error)
	references [][]byte
}

func inFile(id uint32, name string) version { return version{id: id, name: name, read: os.ReadFile} }

func inRegistry(s *state.Schema) version {
	v := version{id: s.ID, name: "schema.proto"}
	texts := map[string]string{v.name: s.Text}
	for _, r := range s.References {
		texts[r.Name] = r.Text
		v.references = append(v.references, []byte(r.Text))
	}
	v.read = func(name string) ([]byte, error) {
		text, ok := texts[name]
		if !ok {
			return nil, fmt.Errorf("%s: not among the references", name)
		}
		return []byte(text), nil
	}
	return v
}

// reader is the version whose fields a mapping names.
func (e Encoding) reader() version {
	if n := len(e.Schemas); n > 0 {
		return inRegistry(&e.Schemas[n-1])
	}
	return inFile(0, e.SchemaFile)
}

// WriteNew writes a file that does not exist yet. One that could not be written whole is gone.
func WriteNew(name string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists, and nothing is overwritten; move it, or take another --out", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
