// Package test renders the Helm chart as Helm does, and decodes the result strictly into the types of the Kubernetes
// API. It is a module of its own, so that the program depends on no library of Helm or Kubernetes.
package test
