package schemas

// Extra is a member that an operator's decisions have behind those of all decisions. Its name and kind never change while
// a deployment of the operator lives: a stream knows its own decisions by their whole text.
type Extra struct {
	Name string // lower case, none that all decisions have
	Kind ExtraKind
	Text string // one sentence for the JSON Schema
}

// ExtraKind is the type of an Extra.
type ExtraKind uint8

// The kinds.
const (
	ExtraNumber  ExtraKind = iota + 1 // finite
	ExtraNumbers                      // a list of finite numbers
	ExtraText
)

// ExtraValue is what a decision says under an Extra: the field of its kind.
type ExtraValue struct {
	Number  float64
	Numbers []float64
	Text    string
}
