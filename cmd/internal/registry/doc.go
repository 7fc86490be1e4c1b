// Package registry is the table of operators: all values of ORIEL_OPERATOR.
//
// A new operator is a folder under operators and a row here; operators/doc.go says what it must provide. Commands use
// operators.Definition and operators.Operator, and must not depend on a particular operator.
package registry
