package state

// Formats of records, their first byte. Each kind has its own numbers.
const (
	format1 = 1
	format2 = 2
	format3 = 3
	format4 = 4
)

// formats lists all forms of stored records. Each has golden bytes in testdata.
var formats = []struct {
	kind   Kind
	format byte
	brings string
}{
	{KindManifest, format2, "the settings, the semantics, the input by id and name, and the key that names are hashed under"},
	{KindIncarnation, format1, "a stream's seal key, plan and start"},
	{KindState, format1, "a machine's state and how far it has read"},
	{KindPart, format1, "slices of a state that is larger than a record may be"},
	{kindIdentity, format1, "whose a local store is"},
	{KindState, format2, "the semantics, where they are not the first; else a state still has format 1"},
	{KindStatuses, format1, "a byte an offset of the input"},
	{KindState, format3, "a machine before its first decisions, which are still owed; a state after them has format 1 or 2"},
	{KindStatuses, format2, "the input's partitions and offsets that a row of a whole topic covers; another row has format 1"},
	{KindIncarnation, format2, "where the stream of a whole topic starts in each partition"},
	{KindState, format4, "where the stream of a whole topic stands in each partition and in their order"},
	{KindSchemas, format1, "the writers' schemas of a stream, by their ids in a registry"},
	{KindAmendment, format1, "parts appended to the params of a stream since it was opened"},
	{KindManifest, format3, "also the texts of lists and of the mapping, by which errors name the difference"},
}

// reads reports whether this version reads a format of a kind.
func reads(k Kind, format byte) bool {
	for _, f := range formats {
		if f.kind == k && f.format == format {
			return true
		}
	}
	return false
}

// newest returns the highest format of a kind that this version reads.
func newest(k Kind) byte {
	high := byte(0)
	for i := range formats {
		if formats[i].kind == k {
			high = formats[i].format
		}
	}
	return high
}
