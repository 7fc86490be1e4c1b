package setup

// What a user may want of a topic.
const (
	Classes    = "classes"    // predict a label of two classes
	Value      = "number"     // predict a number
	Statistics = "statistics" // counts and means by cell
	Choice     = "choice"     // which of a few actions costs least
)

// Reading are settings that decode events of a mapping, for a look at the first ones; nil: a want has none. What they
// say of learning is never written to a file.
func Reading(want, document string) []string {
	lines := []string{"ORIEL_MAP=" + document}
	switch want {
	case "", Classes:
		return append(lines, "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_DIMENSION=32")
	case Value:
		return append(lines, "ORIEL_OPERATOR=ridge", "ORIEL_UPDATE=moments", "ORIEL_DIMENSION=32", "ORIEL_LABEL_RANGE=0:1")
	}
	return nil
}
