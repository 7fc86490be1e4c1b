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

// Refusal is the reason why a client cannot connect, as far as the client can know it.
type Refusal string

// The refusals. Retries do not help: settings of the client or of the brokers must change.
const (
	NoAnswer         Refusal = "no broker answers" // no broker answered within Config.Patience
	NotTrusted       Refusal = "the broker's certificate is not trusted"
	NoTLS            Refusal = "the listener does not speak TLS"
	CertificateAsked Refusal = "the broker refuses the client's certificate, or that there is none"
	LoginRefused     Refusal = "the brokers refuse the login"
	NoToken          Refusal = "there is no token to log in with"
	TokenRefused     Refusal = "the brokers refuse the token"
	HungUp           Refusal = "the broker closes each connection without an answer, as a listener does that speaks TLS, or does not, where the client expects otherwise, or wants a login"
)

// RefusedError is the error of a client that no broker has ever answered.
type RefusedError struct {
	Why   Refusal
	Cause error // error of the last attempt
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %v", e.Why, e.Cause) }

// Unwrap returns the error of the last attempt.
func (e *RefusedError) Unwrap() error { return e.Cause }

// A client that no broker has answered gives up after one of these times. A starting broker or token endpoint refuses
// or drops connections for some seconds. Waiting does not change a certificate, but another broker of the list may have
// a valid certificate.
const (
	certificatePatience = 5 * time.Second
	hungUpPatience      = 30 * time.Second
)

// connectivity distinguishes an outage from settings with which this client can never connect. After the first answer
// of a broker every failure is an outage, and the client waits for its end, because a running service must survive it.
// The zero value is ready.
type connectivity struct {
	mu       sync.Mutex
	answered bool
	began    time.Time // time of the first failed attempt
	why      Refusal   // reason of the last attempts
	since    time.Time // time of the first attempt that failed for this reason
}

// answer records that a broker has answered, possibly with an error.
func (r *connectivity) answer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = true
}

// judge returns the error that ends a call, or nil while the call may be tried again. A client that no broker has
// answered gives up after patience; 0: no limit.
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

// Refused returns the RefusedError for the error of one attempt, or nil if a retry may succeed.
func Refused(err error) *RefusedError {
	if refused, is := errors.AsType[*RefusedError](lacking("", err)); is {
		return refused
	}
	if why := refusal(err); why != "" {
		return &RefusedError{Why: why, Cause: err}
	}
	return nil
}

// refusal returns the reason why an established connection failed, or "" for any other error.
func refusal(err error) Refusal {
	var untrusted *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, ErrNoToken): // before other TLS errors, because the token endpoint has a certificate of its own
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

// asksForCertificate reports whether a broker has sent an alert about the client's certificate (RFC 8446, 6.2). It
// compares texts, because crypto/tls has no exported type for an alert of the other side.
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
