package settings

import (
	"fmt"
	"strings"
	"testing"

	"oriel/cmd/internal/settings/connection"
	"oriel/operators/setting"
)

// TestSettingsOfTokens checks that the error names a token setting that is missing, that has no effect, or that would
// expose a secret.
func TestSettingsOfTokens(t *testing.T) {
	good := Settings{Connection: connection.Connection{
		Brokers: []string{"kafka:9093"}, TLS: true, SASLMechanism: connection.OAuthBearer,
		OAuthTokenURL: "https://id.example/token", OAuthClientID: "oriel", OAuthSecretFile: "secret",
	}}
	for _, c := range []struct {
		change func(*Settings)
		want   string // expected error; "": accepted
	}{
		{func(*Settings) {}, ""},
		{func(s *Settings) { s.OAuthTokenURL = "http://127.0.0.1:8080/token" }, ""},
		{func(s *Settings) {
			s.Brokers, s.TLS = []string{"127.0.0.1:9092", "[::1]:9092", "localhost:9092"}, false
		}, ""},
		{func(s *Settings) {
			s.OAuthTokenURL, s.OAuthClientID, s.OAuthSecretFile, s.OAuthTokenFile = "", "", "", "token"
		}, ""},
		{func(s *Settings) { s.TLS = false }, "ORIEL_TLS: false"},
		{func(s *Settings) { s.OAuthTokenURL = "http://id.example/token" }, "ORIEL_OAUTH_TOKEN_URL: must be an https URL"},
		{func(s *Settings) { s.OAuthTokenURL = "https://me:secret@id.example/" }, "ORIEL_OAUTH_TOKEN_URL: must be an https URL"},
		{func(s *Settings) { s.OAuthTokenURL = "" }, "ORIEL_OAUTH_TOKEN_URL: not set"},
		{func(s *Settings) { s.OAuthClientID = "" }, "ORIEL_OAUTH_CLIENT_ID: not set"},
		{func(s *Settings) { s.OAuthSecretFile = "" }, "ORIEL_OAUTH_CLIENT_SECRET_FILE: not set"},
		{func(s *Settings) { s.SASLUser = "u" }, "ORIEL_SASL_USER: set"},
		{func(s *Settings) { s.SASLPasswordFile = "f" }, "ORIEL_SASL_PASSWORD_FILE: set"},
		{func(s *Settings) { s.OAuthTokenFile = "f" }, "ORIEL_OAUTH_TOKEN_URL: set, and so is ORIEL_OAUTH_TOKEN_FILE"},
		{func(s *Settings) { s.SASLMechanism = "" }, "ORIEL_OAUTH_TOKEN_URL: set, but ORIEL_SASL_MECHANISM is not oauthbearer"},
		{func(s *Settings) { s.SASLMechanism = "gssapi" }, "ORIEL_SASL_MECHANISM"},
	} {
		s, p := good, new(setting.Problems)
		c.change(&s)
		s.checkValues(p, map[string]string{"ORIEL_OAUTH_TOKEN_URL": s.OAuthTokenURL})
		s.Connection.Check(p)
		said := fmt.Sprint(p.Err())
		if (c.want == "") != (p.Err() == nil) || !strings.Contains(said, c.want) || strings.Contains(said, "me:secret") {
			t.Errorf("want %q: %v", c.want, p.Err())
		}
	}
}
