package oauth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"oriel/state/keys"
)

const (
	mostBytes = 64 << 10 // limit for a secret, a token file and an answer
	timeout   = 10 * time.Second

	// freshFor is the share of a token's life during which further logins reuse it. A login needs a token that does not
	// expire soon, because the broker ends the session when the token expires.
	freshFor = 0.8
)

// Config describes where tokens come from: File or, if it is "", the server that the other fields describe.
type Config struct {
	File string // file of one line, the token; read at each login

	URL         string         // token endpoint
	ClientID    string         // id of the client that requests tokens
	SecretFile  string         // file of one line, the client's secret; read at each request
	Scope       string         // requested scope; "" leaves it to the server
	Authorities *x509.CertPool // authorities that sign the server's certificate; nil: those of the system
}

// Source provides tokens. It is safe for concurrent use.
type Source struct {
	config Config
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex
	token   string
	fresh   time.Time // time until which the token is reused without a new request
	expires time.Time
}

// New returns a source. It reads no file and sends nothing yet.
func New(c Config) *Source {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: c.Authorities, MinVersion: tls.VersionTLS12}
	return &Source{config: c, now: time.Now, client: &http.Client{
		Transport: transport, Timeout: timeout,
		// A redirect would send the secret to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Token is a kafka.TokenSource. Errors name the setting and the rule. They contain nothing of a file or of the server's
// answer except the status and the error code of RFC 6749, 5.2.
func (s *Source) Token(ctx context.Context, refused string) (string, error) {
	if s.config.File != "" {
		token, err := line(s.config.File)
		if err == nil && token == "" {
			err = fmt.Errorf("file %s: no token in it", s.config.File)
		}
		if err != nil {
			return "", fmt.Errorf("ORIEL_OAUTH_TOKEN_FILE: %w", err)
		}
		return token, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	usable := s.token != "" && s.token != refused
	if usable && s.now().Before(s.fresh) {
		return s.token, nil
	}
	asked := s.now()
	got, err := s.ask(ctx)
	switch {
	case err == nil:
		life := got.life()
		s.token, s.expires = got.AccessToken, asked.Add(life)
		s.fresh = asked.Add(time.Duration(freshFor * float64(life)))
	case !usable || !s.now().Before(s.expires):
		return "", err
	}
	return s.token, nil
}

// answer is the answer of a token endpoint (RFC 6749, 5.1 and 5.2).
type answer struct {
	AccessToken string      `json:"access_token"`
	TokenType   string      `json:"token_type"`
	ExpiresIn   json.Number `json:"expires_in"` // s; some servers quote it
	Error       string      `json:"error"`
}

// mostLife is the largest value of expires_in that is trusted.
const mostLife = 30 * 24 * time.Hour

// life returns the token's lifetime. It is 0 if the answer has none, so that the next login requests another token.
func (a answer) life() time.Duration {
	seconds, err := a.ExpiresIn.Float64()
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, mostLife.Seconds()) * float64(time.Second))
}

// ask requests a token from the endpoint.
func (s *Source) ask(ctx context.Context) (answer, error) {
	secret, err := line(s.config.SecretFile)
	if err != nil {
		return answer{}, fmt.Errorf("ORIEL_OAUTH_CLIENT_SECRET_FILE: %w", err)
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	if s.config.Scope != "" {
		form.Set("scope", s.config.Scope)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config.URL, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, fmt.Errorf("ORIEL_OAUTH_TOKEN_URL: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.SetBasicAuth(url.QueryEscape(s.config.ClientID), url.QueryEscape(secret)) // RFC 6749, 2.3.1
	// Errors omit the query, because it may contain a secret.
	endpoint, _, _ := strings.Cut(s.config.URL, "?")
	res, err := s.client.Do(req)
	if err != nil {
		if failed, is := errors.AsType[*url.Error](err); is {
			err = failed.Err // the text of the outer error contains the query
		}
		return answer{}, fmt.Errorf("ORIEL_OAUTH_TOKEN_URL: %s: %w", endpoint, err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := read(res)
	if err != nil {
		return got, fmt.Errorf("ORIEL_OAUTH_TOKEN_URL: %s: %w", endpoint, err)
	}
	return got, nil
}

// read reads an answer. It refuses an answer without a token of the kind that brokers accept.
func read(res *http.Response) (got answer, err error) {
	text, err := io.ReadAll(io.LimitReader(res.Body, mostBytes+1))
	if err != nil {
		return got, err
	}
	if len(text) > mostBytes {
		return got, fmt.Errorf("an answer of more than %d bytes", mostBytes)
	}
	malformed := json.Unmarshal(text, &got) != nil
	switch {
	case res.StatusCode != http.StatusOK && !malformed && isCode(got.Error):
		return got, fmt.Errorf("status %d, %s; ORIEL_OAUTH_CLIENT_ID, ORIEL_OAUTH_CLIENT_SECRET_FILE and ORIEL_OAUTH_SCOPE must be of a "+
			"client that the server knows", res.StatusCode, got.Error)
	case res.StatusCode != http.StatusOK:
		return got, fmt.Errorf("status %d", res.StatusCode)
	case malformed:
		return got, errors.New("the answer is no JSON object of RFC 6749, 5.1")
	case got.AccessToken == "":
		return got, errors.New("the answer has no access_token")
	case !strings.EqualFold(got.TokenType, "bearer"):
		return got, errors.New("token_type is not Bearer")
	}
	return got, nil
}

// isCode reports whether a text is an error code of RFC 6749, 5.2, such as invalid_client.
func isCode(text string) bool {
	return text != "" && len(text) <= 64 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// line reads a secret file with one line.
func line(file string) (string, error) {
	text, err := keys.ReadSecretFile(file, mostBytes)
	return strings.TrimSpace(string(text)), err
}
