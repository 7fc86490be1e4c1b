// Package oauth provides the tokens with which the client logs in to brokers. They come from a file that another
// program refreshes, or from an authorization server by client credentials (RFC 6749, 4.4).
package oauth
