// Package registry is the table of operators: all that ORIEL_OPERATOR can name.
//
// A new operator is a folder under operators and a row here; operators/doc.go says what it gives. Commands speak to
// operators.Definition and operators.Operator, and name no operator.
package registry
