// Package setting reads the settings of operators from texts: each row of an operator's table becomes a value of its
// kind. All problems are collected, so that a user sees them together. A value's canonical text identifies a deployment
// and must never change.
package setting
