package connection

import (
	"crypto/tls"
	"fmt"

	"github.com/segmentio/kafka-go/sasl"

	"oriel/cmd/internal/oauth"
	"oriel/cmd/internal/settings/files"
	"oriel/pipeline/kafka"
)

// Client returns the configuration of a connection to the brokers. It reads the secret files that the settings name.
func (s Connection) Client() (kafka.Config, error) {
	c := kafka.Config{Brokers: s.Brokers, ClientID: "oriel"}
	if s.TLS {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		var err error
		if c.TLS.RootCAs, err = files.Authorities("ORIEL_TLS_CA_FILE", s.TLSCAFile); err != nil {
			return c, err
		}
		if s.TLSCertFile != "" {
			pair, err := tls.LoadX509KeyPair(s.TLSCertFile, s.TLSKeyFile)
			if err != nil {
				return c, fmt.Errorf("ORIEL_TLS_CERT_FILE: %w", err)
			}
			c.TLS.Certificates = []tls.Certificate{pair}
		}
	}
	switch s.SASLMechanism {
	case "":
		return c, nil
	case OAuthBearer:
		var err error
		c.SASL, err = s.bearer()
		return c, err
	}
	secret, err := files.Password(s.SASLPasswordFile)
	if err != nil {
		return c, fmt.Errorf("ORIEL_SASL_PASSWORD_FILE: %w", err)
	}
	c.SASL, err = kafka.Login(s.SASLMechanism, s.SASLUser, secret)
	return c, err
}

// bearer returns the SASL mechanism that logs in with tokens. It reads the files that never change at once, so that an
// error in a file is reported at the start.
func (s Connection) bearer() (sasl.Mechanism, error) {
	pool, err := files.Authorities("ORIEL_OAUTH_CA_FILE", s.OAuthCAFile)
	if err != nil {
		return nil, err
	}
	c := oauth.Config{
		File: s.OAuthTokenFile, URL: s.OAuthTokenURL, ClientID: s.OAuthClientID, SecretFile: s.OAuthSecretFile,
		Scope: s.OAuthScope, Authorities: pool,
	}
	if s.OAuthSecretFile != "" {
		if _, err := files.Password(s.OAuthSecretFile); err != nil {
			return nil, fmt.Errorf("ORIEL_OAUTH_CLIENT_SECRET_FILE: %w", err)
		}
	}
	return kafka.Bearer(oauth.New(c).Token), nil
}
