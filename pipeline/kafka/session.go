package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions of the requests of a login: the first versions whose answer has the lifetime of the session (KIP-368).
const (
	handshakeVersion    = 1
	authenticateVersion = 1
)

// renewAfter is the part of a session's lifetime after which the client logs in again. The remaining part is a reserve
// for a slow token endpoint or broker.
const renewAfter = 0.8

// loginPause is the shortest time between two logins on a connection. A broker closes the connection if a login follows
// within a second (MIN_REAUTH_INTERVAL of Kafka's SaslServerAuthenticator).
const loginPause = 1100 * time.Millisecond

// loginTimeout bounds a login on a connection that is in use, because requests wait for it.
const loginTimeout = 5 * time.Second

// session is a connection whose login expires. kafka-go logs in once for each connection and ignores the lifetime of
// the login. So a broker with connections.max.reauth.ms, or with expiring tokens, would close the connection in the
// middle of a transaction. A session logs in again on the same connection, between two requests. Only one goroutine may
// use a session, and it must read the full answer to a request before it sends the next request.
type session struct {
	net.Conn
	client *Client
	peer   sasl.Metadata

	between  bool      // the last byte was read, not written, so the next write starts a request
	renew    time.Time // time for the next login; zero: never
	earliest time.Time // earliest time at which the broker accepts another login
	ends     time.Time // time at which the broker closes the connection
}

// dial connects and logs in. It replaces kafka-go's TLS and SASL, because a session has to log in on top of the TLS
// connection.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.config.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if c.config.TLS != nil {
		config := c.config.TLS.Clone()
		if config.ServerName == "" {
			config.ServerName = host
		}
		conn = tls.Client(conn, config)
	}
	number, _ := strconv.Atoi(port)
	s := &session{Conn: conn, client: c, peer: sasl.Metadata{Host: host, Port: number}}
	if deadline, has := ctx.Deadline(); has {
		_ = conn.SetDeadline(deadline)
	}
	if err := s.login(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, conn.SetDeadline(time.Time{})
}

// Read implements net.Conn.
func (s *session) Read(b []byte) (int, error) {
	s.between = true
	return s.Conn.Read(b)
}

// Write implements net.Conn. It logs in again before a request if the login is about to expire.
func (s *session) Write(b []byte) (int, error) {
	if s.between && !s.renew.IsZero() && time.Now().After(s.renew) {
		time.Sleep(time.Until(s.earliest))
		if err := s.relogin(); err != nil {
			return 0, err
		}
	}
	s.between = false
	return s.Conn.Write(b)
}

// relogin renews the session. While the old login is valid, a missing token is not an error: the next request tries
// again.
func (s *session) relogin() error {
	ctx, cancel := context.WithTimeout(context.Background(), loginTimeout)
	defer cancel()
	err := s.login(ctx)
	if errors.Is(err, ErrNoToken) && time.Now().Before(s.ends) {
		s.client.OnRetry("log in again", err)
		return nil
	}
	return err
}

// login authenticates the connection. It sends no request before the mechanism has its credentials.
func (s *session) login(ctx context.Context) error {
	mechanism := s.client.config.SASL
	state, response, err := mechanism.Start(sasl.WithMetadata(ctx, &s.peer))
	if err != nil {
		return err
	}
	began := time.Now()
	s.earliest = began.Add(loginPause)
	handshake := kmsg.SASLHandshakeRequest{Mechanism: mechanism.Name()}
	answer, err := exchange[*kmsg.SASLHandshakeResponse](s, &handshake, handshakeVersion)
	if err == nil {
		err = CodeError(answer.ErrorCode)
	}
	for done := false; err == nil && !done; {
		var challenge []byte
		var lifetime time.Duration
		if challenge, lifetime, err = s.authenticate(response); err != nil {
			break
		}
		s.lasts(began, lifetime)
		done, response, err = state.Next(ctx, challenge)
	}
	if bearing, is := state.(*bearing); is && err != nil {
		return bearing.refused(err)
	}
	return err
}

// lasts sets the session's times for a login that began at from; lifetime 0 means that the session does not expire.
func (s *session) lasts(from time.Time, lifetime time.Duration) {
	s.renew, s.ends = time.Time{}, time.Time{}
	if lifetime > 0 {
		s.renew = from.Add(time.Duration(renewAfter * float64(lifetime)))
		s.ends = from.Add(lifetime)
	}
}

// authenticate sends one message of a mechanism, and returns the broker's answer to it.
func (s *session) authenticate(response []byte) (challenge []byte, lifetime time.Duration, err error) {
	message := kmsg.SASLAuthenticateRequest{SASLAuthBytes: response}
	answer, err := exchange[*kmsg.SASLAuthenticateResponse](s, &message, authenticateVersion)
	if err != nil {
		return nil, 0, err
	}
	lifetime = time.Duration(answer.SessionLifetimeMillis) * time.Millisecond
	if answer.ErrorCode != 0 {
		text := ""
		if answer.ErrorMessage != nil {
			text = *answer.ErrorMessage
		}
		err = fmt.Errorf("%w: %s", CodeError(answer.ErrorCode), text)
	}
	return answer.SASLAuthBytes, lifetime, err
}

// exchange sends a request on the connection without the session's own login, and returns the answer.
func exchange[R kmsg.Response](s *session, req kmsg.Request, version int16) (answer R, err error) {
	call, decoded := s.client.encode(req, version)
	if _, err := call.RawExchange(s.Conn); err != nil {
		return answer, err
	}
	return decoded.(R), nil
}

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
