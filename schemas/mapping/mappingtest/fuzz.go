package mappingtest

import "oriel/schemas/mapping"

// Bounds for tiertest.Allocates in a fuzz target, in bytes. The fuzzing engine also allocates, so Nothing is not 0.
const (
	MaxSchema = 64 << 20 // bytes that reading and compiling a schema may allocate
	Nothing   = 64 << 10 // bytes that reading a record may allocate
)

// Reach returns paths of a schema, at most most of them and at most four names deep, including paths in lists and maps.
// names returns the names of the fields of the record at a path.
func Reach(most int, names func(mapping.Path) []string) []mapping.Path {
	var paths []mapping.Path
	for at := []mapping.Path{{}}; len(at) > 0 && len(paths) < most; at = at[1:] {
		for _, name := range names(at[0]) {
			for _, below := range [][]string{{}, {"0"}, {"a"}} {
				p := append(append(mapping.Path{}, at[0]...), append([]string{name}, below...)...)
				paths = append(paths, p)
				if len(p) <= 4 {
					at = append(at, p)
				}
			}
		}
	}
	return paths[:min(len(paths), most)]
}
