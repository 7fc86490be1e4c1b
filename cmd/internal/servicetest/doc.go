// Package servicetest has the shared parts of service tests: a broker, a deployment of the test's own on it (Fixture),
// and child processes that run its commands. A package whose tests use it must have a TestMain that calls Main, because
// a child process is the test binary, started again.
package servicetest
