package kafka

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/sasl"

	"oriel/pipeline/kafka/wire"
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
	began, code := time.Now(), int16(0)
	s.earliest = began.Add(loginPause)
	err = s.exchange(protocol.SaslHandshake, handshakeVersion, wire.AppendString(nil, mechanism.Name()),
		func(r *wire.Reader) { code = r.Int16() })
	if err == nil {
		err = CodeError(code)
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
	body := append(binary.BigEndian.AppendUint32(nil, uint32(len(response))), response...)
	var code int16
	var text string
	err = s.exchange(protocol.SaslAuthenticate, authenticateVersion, body, func(r *wire.Reader) {
		code, text = r.Int16(), r.Text()
		challenge = r.Sized()
		lifetime = time.Duration(r.Int64()) * time.Millisecond
	})
	if err == nil && code != 0 {
		err = fmt.Errorf("%w: %s", CodeError(code), text)
	}
	return challenge, lifetime, err
}

// exchange sends a request on the connection without the session's own login, and reads the answer.
func (s *session) exchange(key protocol.ApiKey, version int16, body []byte, parse func(*wire.Reader)) error {
	call := s.client.NewCall(key, version, false, body)
	call.Complete(parse)
	_, err := call.RawExchange(s.Conn)
	return err
}
