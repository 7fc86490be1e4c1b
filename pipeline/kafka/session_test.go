package kafka

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka/wire"
)

// sessionLasts is the session lifetime of the broker of these tests, unless a gate sets a shorter one.
const sessionLasts = 100 * time.Second

// gate is a broker that accepts logins with tokens, and closes connections that do not log in again within sessionLasts
// (KIP-368). It answers any other request with the request's own bytes.
type gate struct {
	good     map[string]bool
	received []string // requests by name, and tokens, in the order received
	admitted time.Time
	lasts    time.Duration // session lifetime; 0: sessionLasts
}

func (g *gate) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var size [4]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(conn, frame); err != nil {
			return
		}
		r := &wire.Reader{B: frame}
		key, _, id := protocol.ApiKey(r.Int16()), r.Int16(), r.Int32()
		r.Take(int(r.Int16())) // client id
		body := g.answer(key, r.B)
		if body == nil {
			return
		}
		answer := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
		answer = append(binary.BigEndian.AppendUint32(answer, uint32(id)), body...)
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

func (g *gate) answer(key protocol.ApiKey, body []byte) []byte {
	switch key { //nolint:exhaustive // of a login; all others are answered alike
	case protocol.SaslHandshake:
		if time.Since(g.admitted) < time.Second {
			return nil
		}
		req := kmsg.SASLHandshakeRequest{Version: handshakeVersion}
		if req.ReadFrom(body) != nil {
			return nil
		}
		g.received = append(g.received, req.Mechanism)
		return make([]byte, 6)
	case protocol.SaslAuthenticate:
		req := kmsg.SASLAuthenticateRequest{Version: authenticateVersion}
		if req.ReadFrom(body) != nil {
			return nil
		}
		said := string(req.SASLAuthBytes)
		token := strings.TrimSuffix(strings.TrimPrefix(said, "n,,\x01auth=Bearer "), "\x01\x01")
		challenge, code := "", kafkago.Error(0)
		switch {
		case said == "\x01":
			code = kafkago.SASLAuthenticationFailed
		case !g.good[token]:
			g.received = append(g.received, "not "+token)
			challenge = `{"status":"invalid_token"}`
		default:
			g.received, g.admitted = append(g.received, token), time.Now()
		}
		why := "why"
		return (&kmsg.SASLAuthenticateResponse{
			Version: authenticateVersion, ErrorCode: int16(code), ErrorMessage: &why, SASLAuthBytes: []byte(challenge),
			SessionLifetimeMillis: cmp.Or(g.lasts, sessionLasts).Milliseconds(),
		}).AppendTo(nil)
	}
	if time.Since(g.admitted) > cmp.Or(g.lasts, sessionLasts) {
		return nil
	}
	g.received = append(g.received, "request "+string(body))
	return body
}

// through returns a client whose connections lead to the gate.
func (g *gate) through(t *testing.T, source TokenSource) *Client {
	t.Helper()
	client, err := New(Config{
		Brokers: []string{"broker:9092"}, SASL: Bearer(source),
		Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go g.serve(theirs)
			return ours, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// request sends one request in two writes, as a Call with a Tail does, and checks the answer.
func request(c *Client, conn net.Conn, text string) error {
	call := c.NewCall(protocol.Metadata, 1, false, []byte(text[:1]))
	call.Tail = []byte(text[1:])
	got := ""
	call.Complete(func(r *wire.Reader) { got, r.B = string(r.B), nil })
	if _, err := call.RawExchange(conn); err != nil {
		return err
	}
	if got != text {
		return fmt.Errorf("the answer is %q, want %q", got, text)
	}
	return nil
}

// pausing waits before each write.
type pausing struct{ net.Conn }

func (p pausing) Write(b []byte) (int, error) {
	time.Sleep(600 * time.Millisecond)
	return p.Conn.Write(b)
}

// TestSessionsAreRenewed checks that before its session expires the client logs in again on the connection, between
// requests, with a token that is valid then. If there is no token, it must try again until the session ends. Otherwise
// brokers with limited sessions would close connections in the middle of transactions.
func TestSessionsAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var current string
		var missing error
		g := &gate{good: map[string]bool{"t1": true, "t2": true, "t3": true}}
		c := g.through(t, func(context.Context, string) (string, error) { return current, missing })
		current = "t1"
		conn, err := c.dial(t.Context(), "tcp", "broker:9092")
		if err != nil {
			t.Fatal(err)
		}
		defer synctest.Wait()
		defer conn.Close()
		step := func(wait time.Duration, text string) {
			t.Helper()
			time.Sleep(wait)
			if err := request(c, conn, text); err != nil {
				t.Error(err)
			}
		}
		step(0, "one")
		step(79*time.Second, "two")
		current = "t2"
		step(2*time.Second, "three")
		step(79*time.Second, "four")
		missing = errors.New("the endpoint is away")
		step(5*time.Second, "five") // at 84 s a login is due, but there is no token
		missing, current = nil, "t3"
		step(10*time.Second, "six")
		step(time.Hour, "seven") // the session has expired, so the client must log in before the request
		time.Sleep(79 * time.Second)
		if err := request(c, pausing{conn}, "eight"); err != nil { // the login becomes due between two writes
			t.Error(err)
		}
		want := "OAUTHBEARER t1 request one request two OAUTHBEARER t2 request three request four request five " +
			"OAUTHBEARER t3 request six OAUTHBEARER t3 request seven request eight"
		if got := strings.Join(g.received, " "); got != want {
			t.Errorf("the broker received\n%s, want\n%s", got, want)
		}
	})
}

// TestShortSessionsAreRenewedWhenTheBrokerAllows uses a token that expires after 300 ms. The client must not log in
// again within a second, because the broker would refuse the login, which ended the service.
func TestShortSessionsAreRenewedWhenTheBrokerAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{good: map[string]bool{"t": true}, lasts: 300 * time.Millisecond}
		c := g.through(t, func(context.Context, string) (string, error) { return "t", nil })
		conn, err := c.dial(t.Context(), "tcp", "broker:9092")
		if err != nil {
			t.Fatal(err)
		}
		defer synctest.Wait()
		defer conn.Close()
		for i := range 20 {
			time.Sleep(200 * time.Millisecond)
			if err := request(c, conn, fmt.Sprint("request ", i)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestARefusedTokenIsNotReturnedAgain checks that the source learns which token was refused. A client that was never
// accepted must give up after a while. A client that was accepted before must wait, because a token provider's new keys
// may not have reached the brokers yet.
func TestARefusedTokenIsNotReturnedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{good: map[string]bool{"good": true}}
		var refused []string
		c := g.through(t, func(_ context.Context, denied string) (string, error) {
			if refused = append(refused, denied); denied == "bad" {
				return "good", nil
			}
			return "bad", nil
		})
		if _, err := c.dial(t.Context(), "tcp", "broker:9092"); !errors.Is(err, ErrTokenRefused) || !Transient(err) {
			t.Fatalf("error %v", err)
		}
		conn, err := c.dial(t.Context(), "tcp", "broker:9092")
		if err != nil {
			t.Fatal(err)
		}
		defer synctest.Wait()
		defer conn.Close()
		if fmt.Sprint(refused) != "[ bad]" {
			t.Errorf("the source received %q", refused)
		}
	})
}

// TestTokensThatEndAClient checks that a client that was never accepted ends with an error that contains no token.
func TestTokensThatEndAClient(t *testing.T) {
	const secret = "topsecret"
	for name, c := range map[string]struct {
		source TokenSource
		want   Refusal
	}{
		"none":    {func(context.Context, string) (string, error) { return "", errors.New("401") }, NoToken},
		"empty":   {func(context.Context, string) (string, error) { return "", nil }, NoToken},
		"broken":  {func(context.Context, string) (string, error) { return secret + "\x01x", nil }, NoToken},
		"refused": {func(context.Context, string) (string, error) { return secret, nil }, TokenRefused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c2 := (&gate{}).through(t, c.source)
				defer time.Sleep(time.Minute)
				defer c2.Close()
				err := c2.Retry(t.Context(), "look", func(ctx context.Context) error {
					return c2.CheckVersion(ctx, protocol.Metadata, 1)
				})
				refused, is := errors.AsType[*RefusedError](err)
				if !is || refused.Why != c.want || strings.Contains(err.Error(), secret) {
					t.Errorf("error %v", err)
				}
				if again := Refused(fmt.Errorf("once: %w", refused.Cause)); again == nil || again.Why != c.want {
					t.Errorf("read once it is %v", again)
				}
			})
		})
	}
}
