// Package figuretest checks the guarantees of package figure: legible text, and legends that cover no line. It examines
// the drawn output only.
package figuretest
