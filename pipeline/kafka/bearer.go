package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
)

// TokenSource returns a valid token. refused is the last token that a broker has refused, or "". The source must not
// return this token again if it can get another. It must be safe for concurrent use.
type TokenSource func(ctx context.Context, refused string) (string, error)

var (
	// ErrNoToken reports a login without a token: the TokenSource failed, or its token has forbidden characters.
	ErrNoToken = errors.New("no token")

	// ErrTokenRefused reports a token that a broker refused. It is transient: the next login asks the source for
	// another token.
	ErrTokenRefused = errors.New("OAUTHBEARER")
)

// bearer is the mechanism OAUTHBEARER (RFC 7628).
type bearer struct {
	source TokenSource
	denied atomic.Pointer[string] // the token that a broker refused last
}

// Bearer logs in with tokens (OAUTHBEARER, KIP-255). It must be used only under TLS, because anyone who reads a token
// can use it.
func Bearer(source TokenSource) sasl.Mechanism { return &bearer{source: source} }

// Name implements sasl.Mechanism.
func (*bearer) Name() string { return "OAUTHBEARER" }

// Start implements sasl.Mechanism. The message is the client's initial response of RFC 7628, 3.1.
func (b *bearer) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	refused := ""
	if denied := b.denied.Load(); denied != nil {
		refused = *denied
	}
	token, err := b.source(ctx, refused)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrNoToken, err)
	case token == "" || strings.ContainsFunc(token, notOfToken):
		return nil, nil, fmt.Errorf("%w: the token is empty, or has characters that no token has (RFC 6750, 2.1)", ErrNoToken)
	}
	return &bearing{of: b, token: token}, []byte("n,,\x01auth=Bearer " + token + "\x01\x01"), nil
}

// notOfToken reports whether a character cannot be in a token (b64token, RFC 6750, 2.1).
func notOfToken(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~+/=", r))
}

// bearing is the state of one login with a token.
type bearing struct {
	of    *bearer
	token string
}

// Next implements sasl.StateMachine. A challenge means that the token is refused. It must be answered (RFC 7628, 3.2.3)
// before the broker sends the reason.
func (s *bearing) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	if len(challenge) == 0 {
		return true, nil, nil
	}
	return false, []byte{1}, nil
}

// refused turns the broker's refusal of a login into ErrTokenRefused, and records the token.
func (s *bearing) refused(err error) error {
	if !errors.Is(err, kafkago.SASLAuthenticationFailed) {
		return err
	}
	s.of.denied.Store(&s.token)
	return fmt.Errorf("%w: %v", ErrTokenRefused, err) //nolint:errorlint // the code alone would end the client for good
}
