// Package test renders the Helm chart as Helm does, and reads the result as the Kubernetes API does: strictly, into the
// API's types. It is a module of its own, so that the program depends on no library of Helm or Kubernetes.
package test
