package text

// Code is the outcome of decoding a record: OK, or the rule that the record breaks. Its String is written to
// dead-letter headers and must not change.
type Code uint8

// The codes. Numbers and strings are stored, in record statuses and in dead letters. So a new code must go to the end,
// and a code must never be renumbered.
const (
	OK Code = iota
	Empty
	TooLarge
	InvalidUTF8
	ByteOrderMark
	JSONSyntax
	TrailingData
	LoneSurrogate
	TooDeep
	NotObject
	WrongType
	NullValue
	DuplicateName
	UnknownName
	MissingMember
	ConflictingMembers
	NumberOverflow
	WrongDimension
	IndexRange
	DuplicateIndex
	TooManyNames
	LabelRange
	WeightRange
	RelativeRange
	FeatureOverflow
	NoUser
	TooSoon
	NumberRange
	CountRange
	UnknownChoice
	Filtered
	UnreadableValue
	UnknownFraming
	UnknownSchema
	Malformed
	Unresolved
	TooMany
	NameLength
	UncleanName
)

var codes = [...]struct{ name, rule string }{
	OK:                 {"ok", "the record is valid"},
	Empty:              {"empty", "a record has a value of at least one byte"},
	TooLarge:           {"too_large", "a record has at most ORIEL_MAX_RECORD_BYTES bytes"},
	InvalidUTF8:        {"invalid_utf8", "a record is UTF-8"},
	ByteOrderMark:      {"byte_order_mark", "a record starts without a byte order mark"},
	JSONSyntax:         {"json_syntax", "a record follows the JSON grammar of RFC 8259"},
	TrailingData:       {"trailing_data", "nothing but white space follows the value"},
	LoneSurrogate:      {"lone_surrogate", "an escaped surrogate is one of a pair"},
	TooDeep:            {"too_deep", "arrays and objects are nested at most 8 deep"},
	NotObject:          {"not_object", "an event is a JSON object"},
	WrongType:          {"wrong_type", "a member has the JSON type that its name asks for"},
	NullValue:          {"null_value", "no value is null"},
	DuplicateName:      {"duplicate_name", "an object has no name twice"},
	UnknownName:        {"unknown_name", "an object has only the members of its body, spelt in lower case"},
	MissingMember:      {"missing_member", "an object has every required member of its body"},
	ConflictingMembers: {"conflicting_members", "an event has one of two names of a member, such as gradient and cost, not both"},
	NumberOverflow:     {"number_overflow", "a number is finite as a float64"},
	WrongDimension:     {"wrong_dimension", "a dense vector has exactly the configured dimension; indices and values have one length"},
	IndexRange:         {"index_range", "an index is an integer from 0 to dimension-1, without fraction or exponent"},
	DuplicateIndex:     {"duplicate_index", "a sparse vector has no index twice"},
	TooManyNames:       {"too_many_names", "an event has at most 4096 named features"},
	LabelRange:         {"label_range", "a label of two classes is -1, 0, 1, false or true"},
	WeightRange:        {"weight_range", "a weight is at least 0"},
	RelativeRange:      {"relative_range", "relatives are at least 0, and one is above 0"},
	FeatureOverflow:    {"feature_overflow", "the hashed features and their squared norm are finite"},
	NoUser:             {"no_user", "a record names its user, by its key or by one header as ORIEL_USER_ID says, in at least one byte"},
	TooSoon:            {"too_soon", "events of one user are at least ORIEL_USER_SEPARATION steps apart"},
	NumberRange:        {"number_range", "a number lies within the bounds of its member"},
	CountRange:         {"count_range", "a count is a whole number within the bounds of its member, without fraction or exponent"},
	UnknownChoice:      {"unknown_choice", "a choice is a text of its member's list"},
	Filtered:           {"filtered", "an event fulfils the where of ORIEL_MAP"},
	UnreadableValue:    {"unreadable_value", "a mapped value can be read as ORIEL_MAP asks: as a number, a text, a boolean or a time"},
	UnknownFraming:     {"unknown_framing", "a record is framed as ORIEL_FRAMING says"},
	UnknownSchema:      {"unknown_schema", "a record names a schema that was frozen before it (ORIEL_SCHEMA_IDS, `oriel schema pull`), and its message type"},
	Malformed:          {"malformed", "a record follows its schema from the first byte to the last"},
	Unresolved:         {"unresolved", "each record type and symbol is in the reader's schema, by its name or an alias, or the enum has a default"},
	TooMany:            {"too_many", "a user has at most ORIEL_USER_EVENTS records in a period of ORIEL_USER_PERIOD"},
	NameLength:         {"name_length", "a name has 1 to 256 bytes of UTF-8 in Unicode's normal form C"},
	UncleanName:        {"unclean_name", "a name is UTF-8 of characters of Unicode 15.0, none of which controls text"},
}

// String returns the reason code: lower case, words joined by underscores.
func (c Code) String() string {
	if int(c) >= len(codes) {
		return "unknown_code"
	}
	return codes[c].name
}

// Rule returns the broken rule in one line, as a statement about valid records.
func (c Code) Rule() string {
	if int(c) >= len(codes) {
		return "no such rule"
	}
	return codes[c].rule
}

// A record status is a byte for the decoding of one offset of the input. Its numbers are stored and must not change.
const (
	statusNoRecord = 0 // an offset without a record: a marker, or a record of an aborted transaction
	statusOfOK     = 1 // the other codes' statuses follow in order
)

// Status returns the status of a record with this code.
func (c Code) Status() byte { return byte(c) + statusOfOK }

// CodeOfStatus returns the code of a status: OK for a valid record, and for an offset without a record. It returns
// false for a status that this version does not know.
func CodeOfStatus(status byte) (Code, bool) {
	switch {
	case status == statusNoRecord:
		return OK, true
	case int(status)-statusOfOK < len(codes):
		return Code(status - statusOfOK), true
	}
	return OK, false
}
