// Package decisiontest has the golden cases of all operators: settings, events, and the bytes of the decisions that
// every build must make. Tests of other packages use its cases.
package decisiontest
