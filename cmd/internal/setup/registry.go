package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"oriel/cmd/internal/schemaregistry"
)

// Fetch completes an encoding by what a registry has under a subject, and writes each version of the schema to a new
// file of a folder.
func (e Encoding) Fetch(ctx context.Context, url, subject, folder string) (Encoding, error) {
	client, err := schemaregistry.New(schemaregistry.Config{URL: url})
	if err != nil {
		return e, err
	}
	versions, err := client.Versions(ctx, subject)
	if err != nil {
		return e, err
	}
	newest := versions[len(versions)-1]
	extension := ""
	switch newest.Type {
	case "AVRO":
		e.Format, extension = Avro, ".avsc"
	case "PROTOBUF":
		e.Format, extension = Protobuf, ".proto"
	default:
		e.Format = JSON
		return e, nil
	}
	e.Framing, e.IDs = Confluent, nil
	seen := map[uint32]bool{}
	for _, v := range slices.Backward(versions) {
		if v.Type != newest.Type || seen[v.ID] {
			continue
		}
		seen[v.ID] = true
		name := filepath.Join(folder, strings.Map(plain, subject)+"-"+strconv.Itoa(v.Number)+extension)
		if err := writeVersion(name, e.Format, v); err != nil {
			return e, err
		}
		text := strconv.FormatUint(uint64(v.ID), 10)
		if e.SchemaFile == "" {
			e.SchemaFile = name
		} else {
			text += "=" + name
		}
		e.IDs = append(e.IDs, text)
	}
	return e, nil
}

// plain keeps characters that a file's name may have.
func plain(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
		return r
	}
	return '_'
}

// writeVersion writes a schema to a file, and of Protobuf what it imports beside it.
func writeVersion(name, format string, v schemaregistry.Version) error {
	if format == Avro && len(v.References) > 0 {
		return fmt.Errorf("%s: it refers to other schemas; put one file together and name it by --schema-file and --schema-ids", v)
	}
	for _, r := range v.References {
		if !filepath.IsLocal(r.Name) {
			return fmt.Errorf("%s: its reference is not the name of a file", v)
		}
		at := filepath.Join(filepath.Dir(name), r.Name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := writeSame(at, r.Text); err != nil {
			return err
		}
	}
	return writeSame(name, v.Text)
}

// writeSame writes a file that does not exist yet, or is the same.
func writeSame(name, text string) error {
	if sameFile(name, text) {
		return nil
	}
	return WriteNew(name, []byte(text), 0o644)
}

func sameFile(name, text string) bool {
	content, err := os.ReadFile(name)
	return err == nil && string(content) == text
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
