// Package decisiontest has the golden cases of all operators: settings, events, and the bytes that every build must
// decide. Tests of other packages take their cases from here.
package decisiontest
