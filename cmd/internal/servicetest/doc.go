// Package servicetest has what tests of services share: a broker, a deployment of the test's own on it (Fixture), and
// child processes that run its commands. A package whose tests use it must have a TestMain that calls Main, because a
// child is the test's binary, started again.
package servicetest
