// Package families is the table of operators: all that ORIEL_OPERATOR can name.
//
// A new operator is a folder under operators and a row here; operators/doc.go says what it gives. Commands speak to
// operators.Family and operators.Configured, and name no operator.
package families
