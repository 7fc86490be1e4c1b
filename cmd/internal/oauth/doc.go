// Package oauth gets the tokens that the client of the brokers logs in with: from a file that something else keeps
// fresh, or from an authorization server by client credentials (RFC 6749, 4.4).
package oauth
