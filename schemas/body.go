package schemas

// Body says which members the events of an operator have. What decodes, describes or makes events follows from it.
type Body struct {
	Name    string // lower case; "loss" gives the JSON Schema event-loss. Required.
	Text    string // one sentence for the JSON Schema
	Members []Member
}

// Member is a top-level member of an event.
type Member struct {
	Name string // lower case. Required.
	Also string // another name of the same member (cost beside gradient); an event has one of the two
	Kind Kind   // Required.
	Text string // one sentence for the JSON Schema

	Optional bool    // an event may leave it out
	Default  float64 // what then stands in the Event: a number of any size, so that it can tell absence; of a choice its position, or −1

	Least, Most float64  // bounds of a Number or Count, both included; both 0: any finite number, any count up to 2^53 in size
	Choices     []string // of a Choice: the public list, none twice
}

// Kind is what a member says, and where in an Event it goes.
type Kind uint8

// The kinds. A body has at most one of the first three, at most one label, and at most one weight.
const (
	KindVector    Kind = iota + 1 // Event.Vector: dense or sparse
	KindFeatures                  // Event.Vector: dense, sparse, or named features, which are hashed
	KindRelatives                 // Event.Vector: dense, each ≥ 0 and one > 0
	KindClass                     // Event.Label: −1, 0, 1, false or true; 0 and false mean −1
	KindTarget                    // Event.Label: any number
	KindWeight                    // Event.Weight: at least 0
	KindNumber                    // Event.Numbers: a number within bounds
	KindCount                     // Event.Numbers: a whole number within bounds, written without fraction or exponent
	KindChoice                    // Event.Numbers: a text of a list; the number is its position there
)
