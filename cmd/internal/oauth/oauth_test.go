package oauth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// secretText is a secret that must not appear in any error.
const secretText = "s3cret:/&+"

// write writes a secret file.
func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// endpoint is a token endpoint that records its requests.
type endpoint struct {
	*Source
	asked int
	reply func(w http.ResponseWriter, r *http.Request)
	at    time.Time
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{at: time.Unix(1e9, 0)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked++
		e.reply(w, r)
	}))
	t.Cleanup(server.Close)
	e.Source = New(Config{
		URL: server.URL + "/token", ClientID: "a b", Scope: "kafka x",
		SecretFile: write(t, filepath.Join(t.TempDir(), "secret"), secretText+"\n", 0o400),
	})
	e.now = func() time.Time { return e.at }
	return e
}

// grants makes the endpoint return numbered tokens that expire after some seconds.
func (e *endpoint) grants(expires string) {
	e.reply = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"access_token":"t%d","token_type":"bearer"%s}`, e.asked, expires)
	}
}

// TestClientCredentials checks that the request has the form of RFC 6749, 4.4.2.
func TestClientCredentials(t *testing.T) {
	e := newEndpoint(t)
	e.reply = func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		_ = r.ParseForm()
		got := fmt.Sprint(r.Method, r.URL, user, " ", password, r.PostForm)
		want := "POST/tokena+b s3cret%3A%2F%26%2Bmap[grant_type:[client_credentials] scope:[kafka x]]"
		if got != want {
			t.Errorf("asked\n%s, want\n%s", got, want)
		}
		fmt.Fprintf(w, `{"access_token":"t","token_type":"Bearer","expires_in":"60"}`)
	}
	if token, err := e.Token(t.Context(), ""); token != "t" || err != nil {
		t.Errorf("token %q: %v", token, err)
	}
}

// TestTokensAreKeptWhileTheyAreFresh checks that fresh tokens are reused, and that a token is reused for longer while
// the server is unavailable.
func TestTokensAreKeptWhileTheyAreFresh(t *testing.T) {
	e := newEndpoint(t)
	e.grants(`,"expires_in":100`)
	get := func(refused, want string) {
		t.Helper()
		token, err := e.Token(t.Context(), refused)
		if token != want || (err == nil) != (want != "") {
			t.Errorf("token %q, want %q: %v", token, want, err)
		}
	}
	get("", "t1")
	e.at = e.at.Add(79 * time.Second)
	get("", "t1")
	e.at = e.at.Add(2 * time.Second)
	get("", "t2")
	get("t1", "t2") // the broker refused t1, which is not the current token
	get("t2", "t3")
	e.reply = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	e.at = e.at.Add(99 * time.Second)
	get("", "t3")
	get("t3", "") // the broker refused t3, so it is not reused
	e.at = e.at.Add(2 * time.Second)
	get("", "")
	e.grants("") // the server does not state a lifetime
	e.asked = 10
	get("", "t11")
	get("", "t12")
}

// TestBadAnswers checks that errors name the setting and the rule, and contain nothing of the server's text or the
// secret.
func TestBadAnswers(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{401, `{"error":"invalid_client","error_description":"` + secretText + `"}`, "status 401, invalid_client; ORIEL_OAUTH_CLIENT_ID"},
		{400, `{"error":"` + secretText + `"}`, "status 400"},
		{500, secretText, "status 500"},
		{302, "", "status 302"},
		{200, secretText, "no JSON object"},
		{200, `{"access_token":"","token_type":"Bearer"}`, "no access_token"},
		{200, `{"access_token":"` + secretText + `","token_type":"mac"}`, "token_type is not Bearer"},
		{200, `{"access_token":"` + strings.Repeat("x", mostBytes) + `"}`, "more than 65536 bytes"},
	} {
		e := newEndpoint(t)
		e.config.URL += "?key=" + secretText
		e.reply = func(w http.ResponseWriter, _ *http.Request) {
			if c.status == http.StatusFound {
				w.Header().Set("Location", "/elsewhere")
			}
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		}
		token, err := e.Token(t.Context(), "")
		said := fmt.Sprint(err)
		if token != "" || !strings.HasPrefix(said, "ORIEL_OAUTH_TOKEN_URL: ") || !strings.Contains(said, c.want) {
			t.Errorf("token %q, error %v, want %q", token, err, c.want)
		}
		if strings.Contains(said, secretText) || e.asked != 1 {
			t.Errorf("asked %d times, error %v", e.asked, err)
		}
	}
	e := newEndpoint(t)
	e.config.URL = "http://127.0.0.1:1/token?key=" + secretText
	if _, err := e.Token(t.Context(), ""); !strings.Contains(fmt.Sprint(err), "ORIEL_OAUTH_TOKEN_URL: http://127.0.0.1:1/token: ") ||
		strings.Contains(fmt.Sprint(err), secretText) {
		t.Errorf("an endpoint that does not answer: %v", err)
	}
	e.config.SecretFile = write(t, filepath.Join(t.TempDir(), "open"), secretText, 0o644)
	_, err := e.Token(t.Context(), "")
	if !strings.Contains(fmt.Sprint(err), "ORIEL_OAUTH_CLIENT_SECRET_FILE: ") || e.asked != 0 {
		t.Errorf("a secret for all to read: %v", err)
	}
}

// TestATokenFileIsReadAtEachLogin checks that each login reads the file, because another program refreshes it.
func TestATokenFileIsReadAtEachLogin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	s := New(Config{File: file})
	for _, c := range []struct {
		text string
		want string
		says string
	}{{"a\n", "a", ""}, {"b", "b", ""}, {"\n", "", "no token in it"}} {
		write(t, file, c.text, 0o600)
		token, err := s.Token(t.Context(), "")
		if token != c.want || (err != nil) != (c.says != "") || !strings.Contains(fmt.Sprint(err), c.says) && err != nil {
			t.Errorf("token %q, want %q: %v", token, c.want, err)
		}
	}
	if err := os.Chmod(file, 0o604); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Token(t.Context(), ""); !strings.Contains(fmt.Sprint(err), "ORIEL_OAUTH_TOKEN_FILE: ") {
		t.Errorf("a token for all to read: %v", err)
	}
}
