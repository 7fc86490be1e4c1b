package kafka

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// selfSigned returns a certificate for the name broker, valid on the bubble's clock and on the real clock.
func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "broker"}, DNSNames: []string{"broker"}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestAClientThatNeverConnectedGetsTheReason checks that each of these faults ends the client with an error that names
// its cause. The client must not retry for ever.
func TestAClientThatNeverConnectedGetsTheReason(t *testing.T) {
	certificate, pool := selfSigned(t)
	handshake := func(config *tls.Config) func(net.Conn) {
		return func(c net.Conn) {
			secured := tls.Server(c, config)
			_ = secured.Handshake()
			_, _ = io.Copy(io.Discard, secured)
		}
	}
	for name, c := range map[string]struct {
		serve  func(net.Conn) // what the server does before it closes the connection
		client *tls.Config
		want   Refusal
		within time.Duration
	}{
		"no authority": {
			handshake(&tls.Config{Certificates: []tls.Certificate{certificate}}), &tls.Config{},
			NotTrusted, 10 * time.Second,
		},
		"another name": {handshake(&tls.Config{Certificates: []tls.Certificate{certificate}}), &tls.Config{RootCAs: pool, ServerName: "other"}, NotTrusted, 10 * time.Second},
		"client certificate": {handshake(&tls.Config{
			Certificates: []tls.Certificate{certificate},
			ClientAuth:   tls.RequireAnyClientCert,
		}), &tls.Config{RootCAs: pool}, CertificateAsked, 10 * time.Second},
		"no TLS there": {func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		}, &tls.Config{RootCAs: pool}, NoTLS, 10 * time.Second},
		"hung up": {func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<10)) }, nil, HungUp, 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := clientOf(t, c.client, c.serve)
				defer time.Sleep(time.Minute) // lets a TLS alert to an unread pipe reach its deadline
				defer func() { _ = client.Close() }()
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				err := client.Retry(ctx, "look", func(ctx context.Context) error {
					return client.CheckVersion(ctx, protocol.Metadata, 1)
				})
				var refused *RefusedError
				if !errors.As(err, &refused) || refused.Why != c.want {
					t.Fatalf("%v, want: %s", err, c.want)
				}
				if took := time.Since(began); took > c.within || took < certificatePatience {
					t.Errorf("it took %v", took)
				}
				if Classify(err) != Fatal {
					t.Errorf("class %v", Classify(err))
				}
			})
		})
	}
}

// TestAClientWithoutAnyAnswerGivesUp checks that with unreachable brokers a command ends with an error, but the service
// waits.
func TestAClientWithoutAnyAnswerGivesUp(t *testing.T) {
	for name, patience := range map[string]time.Duration{"a command": time.Minute, "the service": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				down := errors.New("connection refused")
				client, err := New(Config{
					Brokers: []string{"one:9092", "two:9092"}, Patience: patience,
					Dial: func(context.Context, string, string) (net.Conn, error) { return nil, down },
				})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = client.Close() }()
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				err = client.Retry(ctx, "look", func(ctx context.Context) error {
					return client.CheckVersion(ctx, protocol.Metadata, 1)
				})
				took := time.Since(began)
				if patience == 0 {
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("after %v: %v, want the deadline", took, err)
					}
					return
				}
				refused, is := errors.AsType[*RefusedError](err)
				if !is || refused.Why != NoAnswer || !errors.Is(err, down) || !strings.Contains(err.Error(), "one:9092,two:9092") {
					t.Errorf("%v, want that the two brokers do not answer, and why", err)
				}
				if took < patience || took > patience+5*time.Second {
					t.Errorf("it took %v, want %v", took, patience)
				}
			})
		})
	}
}

// clientOf returns a client whose connections serve handles and then closes.
func clientOf(t *testing.T, config *tls.Config, serve func(net.Conn)) *Client {
	t.Helper()
	client, err := New(Config{
		Brokers: []string{"broker:9092"}, TLS: config,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() {
				_ = there.SetDeadline(time.Now().Add(time.Second))
				serve(newEager(there))
				_ = there.Close()
			}()
			return here, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// eager is a connection whose peer never waits for it to read, like a socket with buffers.
type eager struct {
	net.Conn
	came chan []byte
	rest []byte
}

func newEager(c net.Conn) *eager {
	e := &eager{Conn: c, came: make(chan []byte, 1<<10)}
	go func() {
		defer close(e.came)
		for {
			b := make([]byte, 1<<14)
			n, err := c.Read(b)
			if err != nil {
				return
			}
			e.came <- b[:n]
		}
	}()
	return e
}

func (e *eager) Read(b []byte) (int, error) {
	if len(e.rest) == 0 {
		e.rest = <-e.came
	}
	if len(e.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func TestAfterAnAnswerTheClientWaitsForTheBrokers(t *testing.T) {
	began := time.Unix(0, 0)
	for name, c := range map[string]struct {
		first error
		want  bool
	}{
		"never answered":              {nil, true},
		"answered with a code":        {kafkago.NotLeaderForPartition, false},
		"answered":                    {errAnswered, false},
		"away, and not refused":       {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		"another refusal just before": {&tls.CertificateVerificationError{Err: errors.New("expired")}, true},
	} {
		var r connectivity
		switch {
		case errors.Is(c.first, errAnswered):
			r.answer()
		case c.first != nil:
			if err := r.judge(c.first, began, 0); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		at := began.Add(time.Hour)
		for _, step := range []struct {
			after time.Duration
			ends  bool
		}{{0, false}, {hungUpPatience - 1, false}, {hungUpPatience, c.want}} {
			if err := r.judge(io.ErrUnexpectedEOF, at.Add(step.after), 0); (err != nil) != step.ends {
				t.Errorf("%s: after %v: %v", name, step.after, err)
			}
		}
	}
}

var errAnswered = errors.New("no error")
