package tables

//go:generate go test -run TestTables -rewrite .

// The sizes of the two tables; in both an octave has Segments segments.
const (
	Octaves  = 24
	Segments = 64
	Degree   = 7
	Guard    = 9

	CoarseOctaves = 8
	CoarseDegree  = 5
)

// Fine has a row of coefficients for each segment, lowest degree first, by octave and segment.
type Fine [Octaves * Segments][Degree + 1]uint64

// Slack bounds the error of a fine table by octave, in units of the last fraction bit of x.
type Slack [Octaves]uint64

// Coarse has a row of coefficients for each segment, lowest degree first, by rising v.
type Coarse [CoarseOctaves * Segments]CoarseRow

// CoarseRow has the coefficients of a segment.
type CoarseRow [CoarseDegree + 1]uint64
