// Package servicetest contains what tests of the service share: a broker, a deployment on it for each test (Fixture),
// and child processes that run commands. A package whose tests use it must have a TestMain that calls Main, because a
// child process is the test binary, started again.
package servicetest
