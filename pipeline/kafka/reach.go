package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Refusal is why a client does not get in, as far as it can be told from outside.
type Refusal string

// The refusals. Each is mended by other settings, on one side or the other, and by no repetition.
const (
	NoAnswer         Refusal = "no broker answers" // within Config.Patience
	NotTrusted       Refusal = "the broker's certificate is not trusted"
	NoTLS            Refusal = "the listener does not speak TLS"
	CertificateAsked Refusal = "the broker refuses the client's certificate, or that there is none"
	LoginRefused     Refusal = "the brokers refuse the login"
	NoToken          Refusal = "there is no token to log in with"
	TokenRefused     Refusal = "the brokers refuse the token"
	HungUp           Refusal = "the broker closes each connection without an answer, as a listener does that speaks TLS, or does not, where the client expects otherwise, or wants a login"
)

// RefusedError ends the calls of a client that no broker ever answered.
type RefusedError struct {
	Why   Refusal
	Cause error // of the last attempt
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %v", e.Why, e.Cause) }

// Unwrap gives the cause.
func (e *RefusedError) Unwrap() error { return e.Cause }

// Patience of a client that was never answered. A broker, or an endpoint of tokens, that starts refuses or drops
// connections for some seconds; a certificate does not change by waiting, but another broker of the list may have a
// better one.
const (
	certificatePatience = 5 * time.Second
	hungUpPatience      = 30 * time.Second
)

// connectivity tells a cluster that is away from one that will never let this client in. Once a broker has answered,
// every trouble is an outage and is waited out: certificates are renewed, listeners come back, and a service that runs
// must not end for it. It is ready as its zero value.
type connectivity struct {
	mu       sync.Mutex
	answered bool
	began    time.Time // the first failed attempt
	why      Refusal   // of all attempts since
	since    time.Time // the first of them
}

// answer notes that a broker has answered, if only with an error.
func (r *connectivity) answer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = true
}

// judge returns the error that ends a call, or nil as long as it may be tried again. A client without any answer waits
// for patience; 0 sets no limit.
func (r *connectivity) judge(err error, now time.Time, patience time.Duration) error {
	var code Code
	isCode := errors.As(err, &code)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = r.answered || isCode
	why := refusal(err)
	if r.answered || why != r.why {
		r.why, r.since = why, now
	}
	if r.began.IsZero() {
		r.began = now
	}
	enough := certificatePatience
	if why == HungUp || why == NoToken {
		enough = hungUpPatience
	}
	switch {
	case r.answered:
		return nil
	case why != "" && now.Sub(r.since) >= enough:
		return &RefusedError{Why: why, Cause: err}
	case patience > 0 && now.Sub(r.began) >= patience:
		return &RefusedError{Why: NoAnswer, Cause: err}
	}
	return nil
}

// Refused reads an error of one attempt as the reason why other settings are needed; nil if it is no such reason.
func Refused(err error) *RefusedError {
	if refused, is := errors.AsType[*RefusedError](lacking("", err)); is {
		return refused
	}
	if why := refusal(err); why != "" {
		return &RefusedError{Why: why, Cause: err}
	}
	return nil
}

// refusal reads an error of a connection that was made and led to nothing; "" for any other.
func refusal(err error) Refusal {
	var untrusted *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, ErrNoToken): // first: the endpoint of tokens has a certificate of its own
		return NoToken
	case errors.Is(err, ErrTokenRefused):
		return TokenRefused
	case errors.As(err, &untrusted), errors.As(err, &authority), errors.As(err, &name), errors.As(err, &invalid):
		return NotTrusted
	case errors.As(err, &plain):
		return NoTLS
	case asksForCertificate(err):
		return CertificateAsked
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err,
		syscall.EPIPE):
		return HungUp
	}
	return ""
}

// asksForCertificate reads the alerts of RFC 8446, 6.2, that a broker sends about a client's certificate. crypto/tls
// has no exported type for an alert of the other side.
func asksForCertificate(err error) bool {
	const remote = "remote error: tls: "
	for _, alert := range []string{
		"certificate required", "bad certificate", "unsupported certificate", "unknown certificate",
		"expired certificate", "revoked certificate",
	} {
		if strings.Contains(err.Error(), remote+alert) {
			return true
		}
	}
	return false
}
