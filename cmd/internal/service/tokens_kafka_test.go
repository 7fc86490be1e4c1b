//go:build kafka

package service_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/cmd/internal/servicetest"
)

// claims returns the claims of a token for the user oriel that expires after the duration life.
func claims(life time.Duration) map[string]any {
	now := time.Now()
	return map[string]any{
		"iss": "https://issuer.example", "aud": "kafka", "sub": "oriel", "iat": now.Add(-time.Minute).Unix(), "exp": now.Add(life).Unix(),
	}
}

// unsigned returns an unsigned token (RFC 7515, A.5), which the broker's test handler accepts.
func unsigned(t *testing.T, claims map[string]any) string { return content(t, "none", claims) + "." }

// content returns a token's header and claims in the form that a signature covers.
func content(t *testing.T, algorithm string, claims map[string]any) string {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"`+algorithm+`","kid":"1"}`)) + "." + encode(text)
}

// signed returns a token of the issuer that the broker trusts, signed with RS256.
func signed(t *testing.T, claims map[string]any) string {
	t.Helper()
	text, err := os.ReadFile(servicetest.SecureFile(t, "tokens.key"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	token := content(t, "RS256", claims)
	digest := sha256.Sum256([]byte(token))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key.(*rsa.PrivateKey), crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return token + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// clientSecret is the secret that the token endpoint requires.
const clientSecret = "the-secret"

// tokenEndpoint serves the tokens that token returns, and counts them in given.
func tokenEndpoint(t *testing.T, life time.Duration, token func() string) (url string, given *atomic.Int64) {
	t.Helper()
	given = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, secret, _ := r.BasicAuth(); secret != clientSecret {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":"invalid_client"}`)
			return
		}
		given.Add(1)
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":%d}`, token(), int(life.Seconds()))
	}))
	t.Cleanup(server.Close)
	return server.URL, given
}

// withTokens returns the settings of a client that gets tokens from an endpoint.
func withTokens(t *testing.T, url, secret string) map[string]string {
	t.Helper()
	return map[string]string{
		"ORIEL_BROKERS": servicetest.Listener(t, "SIGNED"), "ORIEL_TLS": "true",
		"ORIEL_TLS_CA_FILE": servicetest.SecureFile(t, "authority.pem"), "ORIEL_SASL_MECHANISM": "OAUTHBEARER",
		"ORIEL_OAUTH_TOKEN_URL": url, "ORIEL_OAUTH_CLIENT_ID": "oriel", "ORIEL_OAUTH_SCOPE": "kafka",
		"ORIEL_OAUTH_CLIENT_SECRET_FILE": servicetest.WriteFile(t, "secret", []byte(secret)),
	}
}

// withTokenFile returns the settings of a client that reads its token from a file, for the listener that accepts any
// token.
func withTokenFile(t *testing.T, file string) map[string]string {
	t.Helper()
	return map[string]string{
		"ORIEL_BROKERS": servicetest.Listener(t, "UNSIGNED"), "ORIEL_SASL_MECHANISM": "oauthbearer",
		"ORIEL_OAUTH_TOKEN_FILE": file,
	}
}

// TestLoginsWithTokens checks each way to log in with tokens. With a wrong token the command must end and name the
// setting to correct.
func TestLoginsWithTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Allow("User:oriel", servicetest.ACL{
		Resource: kmsg.ACLResourceTypeTopic, Name: f.Env["ORIEL_INPUT_TOPIC"], Operations: []string{"READ"},
	})
	const minute = 10 * time.Minute // longer than any test waits
	ask := func(secret string, change ...any) map[string]string {
		all := claims(minute)
		for i := 0; i < len(change); i += 2 {
			all[change[i].(string)] = change[i+1]
		}
		url, _ := tokenEndpoint(t, minute, func() string { return signed(t, all) })
		return withTokens(t, url, secret)
	}
	read := func(token string) map[string]string {
		return withTokenFile(t, servicetest.WriteFile(t, "token", []byte(token)))
	}
	forged := withTokens(t, "", clientSecret)
	forged["ORIEL_OAUTH_TOKEN_URL"], _ = tokenEndpoint(t, minute, func() string {
		return strings.TrimSuffix(signed(t, claims(minute)), "AAAA")[:400] + "AAAA"
	})
	for name, c := range map[string]struct {
		env  map[string]string
		want string // setting that the error must name; "": the login succeeds
	}{
		"signed":           {env: ask(clientSecret)},
		"unsigned":         {env: read(unsigned(t, claims(minute)))},
		"wrong secret":     {env: ask("other"), want: "invalid_client; ORIEL_OAUTH_CLIENT_ID, ORIEL_OAUTH_CLIENT_SECRET_FILE"},
		"another issuer":   {env: ask(clientSecret, "iss", "https://other.example"), want: "ORIEL_OAUTH_TOKEN_URL"},
		"another audience": {env: ask(clientSecret, "aud", "other"), want: "ORIEL_OAUTH_SCOPE"},
		"expired":          {env: ask(clientSecret, "exp", time.Now().Add(-minute).Unix()), want: "clocks must agree"},
		"expired file":     {env: read(unsigned(t, claims(-minute))), want: "ORIEL_OAUTH_TOKEN_FILE may have expired"},
		"forged":           {env: forged, want: "the brokers refuse the token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *f.Fixture
			own.T = t
			p := own.Start(c.env, "tail", "--topic", f.Env["ORIEL_INPUT_TOPIC"], "--follow=false")
			if in := p.Finish(90 * time.Second); in != (c.want == "") || !strings.Contains(p.Output(), c.want) {
				t.Errorf("got in: %t; want it to name %q; it said: %s", in, c.want, p.Output())
			}
			if strings.Contains(p.Output(), clientSecret) || strings.Contains(p.Output(), "eyJ") {
				t.Errorf("it shows a secret or a token: %s", p.Output())
			}
		})
	}
}

// TestTokensExpireDuringARun uses sessions of 4 s and tokens that expire no later. The service must run for 20 s
// without losing a connection, so that no partition is taken over again and no request is repeated.
func TestTokensExpireDuringARun(t *testing.T) {
	const life = 5 * time.Second
	for name, settings := range map[string]func(*testing.T) (env map[string]string, tokens func() int64){
		"signed": func(t *testing.T) (map[string]string, func() int64) {
			url, given := tokenEndpoint(t, life, func() string { return signed(t, claims(life)) })
			return withTokens(t, url, clientSecret), given.Load
		},
		"file": func(t *testing.T) (map[string]string, func() int64) {
			file := filepath.Join(t.TempDir(), "token")
			written := new(atomic.Int64)
			write := func() {
				written.Add(1)
				next := servicetest.WriteFile(t, "token", []byte(unsigned(t, claims(life))))
				if err := os.Rename(next, file); err != nil {
					t.Error(err)
				}
			}
			write()
			tick, done := time.NewTicker(time.Second), make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-tick.C:
						write()
					case <-t.Context().Done():
						return
					}
				}
			}()
			t.Cleanup(func() { <-done })
			return withTokenFile(t, file), written.Load
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, 1, nil)
			f.Must("topics")
			f.Allow("User:oriel", f.RightsOf("run")...)
			env, tokens := settings(t)
			maps.Copy(f.Env, env)
			p := f.Start(map[string]string{"ORIEL_LOG_LEVEL": "debug"}, "run")
			const events = 40
			for i := range events {
				f.Send(0, servicetest.Event(i))
				time.Sleep(500 * time.Millisecond)
			}
			f.AwaitTaken(time.Minute, events)
			p.Terminate()
			f.CheckHistory(0, events)
			if n := tokens(); n < 4 {
				t.Errorf("%d tokens in 20 s, each of 5 s", n)
			}
			for _, text := range []string{"over again", "still trying", "broken", clientSecret, "eyJ"} {
				if strings.Contains(p.Output(), text) {
					t.Errorf("the log says %q: %s", text, servicetest.EndOf(p.Output()))
				}
			}
		})
	}
}
