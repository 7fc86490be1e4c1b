package protobuf

import (
	"embed"
	"path"
)

// known has the files that schemas import without listing them: Confluent's registry and its serializers have these
// files built in, as all compilers have google/protobuf. They define only the parts of the public interfaces that the
// encoding needs: names and numbers.
//
//go:embed known
var known embed.FS

// orKnown returns a function that reads known files where the schema has no file of its own.
func orKnown(read func(name string) ([]byte, error)) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		content, err := read(name)
		if err != nil {
			if built, missing := known.ReadFile(path.Join("known", name)); missing == nil {
				return built, nil
			}
		}
		return content, err
	}
}
