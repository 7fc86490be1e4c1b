package connection

import (
	"net"
	"slices"

	"oriel/cmd/internal/settings/values"
	"oriel/operators/setting"
)

// Connection has the settings of the connection to the brokers.
type Connection struct {
	Brokers                                      []string
	TLS                                          bool
	TLSCAFile, TLSCertFile, TLSKeyFile           string
	SASLMechanism, SASLUser, SASLPasswordFile    string
	OAuthTokenURL, OAuthClientID, OAuthScope     string
	OAuthSecretFile, OAuthCAFile, OAuthTokenFile string
}

// OAuthBearer is the name of the SASL mechanism OAUTHBEARER in the settings.
const OAuthBearer = "oauthbearer"

// Check refuses settings that do not go together.
func (s Connection) Check(p *setting.Problems) {
	if s.SASLMechanism != "" && s.SASLMechanism != OAuthBearer {
		p.Want("SASL_USER", s.SASLUser != "", "not set, but ORIEL_SASL_MECHANISM is")
		p.Want("SASL_PASSWORD_FILE", s.SASLPasswordFile != "", "not set, but ORIEL_SASL_MECHANISM is")
	}
	s.checkTokens(p)
	p.Want("TLS_KEY_FILE", (s.TLSKeyFile == "") == (s.TLSCertFile == ""),
		"a client certificate and its key are given together")
	p.Want("TLS", s.TLS || (s.TLSCAFile == "" && s.TLSCertFile == ""), "false, but certificates are given")
}

// checkTokens refuses token settings that have no effect. It also refuses tokens or secrets that would cross the
// network in clear text.
func (s Connection) checkTokens(p *setting.Problems) {
	used := s.SASLMechanism == OAuthBearer
	endpoint := []struct{ name, value string }{
		{"OAUTH_TOKEN_URL", s.OAuthTokenURL},
		{"OAUTH_CLIENT_ID", s.OAuthClientID},
		{"OAUTH_CLIENT_SECRET_FILE", s.OAuthSecretFile},
		{"OAUTH_SCOPE", s.OAuthScope},
		{"OAUTH_CA_FILE", s.OAuthCAFile},
	}
	for _, f := range endpoint {
		p.Want(f.name, f.value == "" || used, "set, but ORIEL_SASL_MECHANISM is not oauthbearer")
		p.Want(f.name, f.value == "" || s.OAuthTokenFile == "", "set, and so is ORIEL_OAUTH_TOKEN_FILE: set one of the two alone")
	}
	p.Want("OAUTH_TOKEN_FILE", s.OAuthTokenFile == "" || used, "set, but ORIEL_SASL_MECHANISM is not oauthbearer")
	if !used {
		return
	}
	const password = "set, but ORIEL_SASL_MECHANISM=oauthbearer logs in with tokens"
	p.Want("SASL_USER", s.SASLUser == "", password)
	p.Want("SASL_PASSWORD_FILE", s.SASLPasswordFile == "", password)
	if s.OAuthTokenFile == "" {
		for _, f := range endpoint[:3] {
			p.Want(f.name, f.value != "", "not set, but ORIEL_SASL_MECHANISM=oauthbearer is, without ORIEL_OAUTH_TOKEN_FILE")
		}
	}
	exposed := slices.ContainsFunc(s.Brokers, func(broker string) bool {
		host, _, err := net.SplitHostPort(broker)
		return err == nil && !values.IsLoopback(host)
	})
	p.Want("TLS", s.TLS || !exposed, "false, but with ORIEL_SASL_MECHANISM=oauthbearer anyone who sees a token can use it; only brokers on "+
		"loopback may do without")
}
