package settings

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/segmentio/kafka-go/sasl"

	"oriel/cmd/internal/oauth"
	"oriel/cmd/internal/score"
	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/state"
)

// Values of ORIEL_STREAM and ORIEL_SEQUENCER.
const (
	wholeTopic, eachPartition    = "topic", "partition"
	ownSequencer, otherSequencer = "own", "other"
)

// Client returns the configuration of a connection to the brokers. It reads the secret files that the settings name.
func (s Settings) Client() (kafka.Config, error) {
	c := kafka.Config{Brokers: s.Brokers, ClientID: "oriel"}
	if s.TLS {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		var err error
		if c.TLS.RootCAs, err = authorities("ORIEL_TLS_CA_FILE", s.TLSCAFile); err != nil {
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
	case oauthBearer:
		var err error
		c.SASL, err = s.bearer()
		return c, err
	}
	secret, err := password(s.SASLPasswordFile)
	if err != nil {
		return c, fmt.Errorf("ORIEL_SASL_PASSWORD_FILE: %w", err)
	}
	c.SASL, err = kafka.Login(s.SASLMechanism, s.SASLUser, secret)
	return c, err
}

// oauthBearer is the name of the SASL mechanism OAUTHBEARER in the settings.
const oauthBearer = "oauthbearer"

// bearer returns the SASL mechanism that logs in with tokens. It reads the files that never change at once, so that an
// error in a file is reported at the start.
func (s Settings) bearer() (sasl.Mechanism, error) {
	pool, err := authorities("ORIEL_OAUTH_CA_FILE", s.OAuthCAFile)
	if err != nil {
		return nil, err
	}
	c := oauth.Config{
		File: s.OAuthTokenFile, URL: s.OAuthTokenURL, ClientID: s.OAuthClientID, SecretFile: s.OAuthSecretFile,
		Scope: s.OAuthScope, Authorities: pool,
	}
	if s.OAuthSecretFile != "" {
		if _, err := password(s.OAuthSecretFile); err != nil {
			return nil, fmt.Errorf("ORIEL_OAUTH_CLIENT_SECRET_FILE: %w", err)
		}
	}
	return kafka.Bearer(oauth.New(c).Token), nil
}

// authorities reads the certificates of the PEM file that a setting names. It returns nil if file is "".
func authorities(setting, file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %s: no PEM certificate in it", setting, file)
	}
	return pool, nil
}

// password reads a file with one line.
func password(file string) (string, error) {
	const mostPassword = 64 << 10
	secret, err := state.ReadSecretFile(file, mostPassword)
	return strings.TrimRight(string(secret), "\r\n"), err
}

// transactionBytes is the size at which a transaction is closed, even if memory allows a larger one. A larger
// transaction would delay decisions and save nothing.
const transactionBytes = 32 << 20

// Deployment returns the names and intervals for the pipeline. Names that are not set are derived from the deployment's
// name. The topics that only some operators have are there if the settings were loaded with the group Operator.
func (s Settings) Deployment() deployment.Config {
	c := deployment.Config{
		Name: s.Name, Group: cmp.Or(s.Group, s.Name), Input: s.InputTopic,
		Decisions:  cmp.Or(s.DecisionTopic, s.Name+".decisions"),
		Verdicts:   cmp.Or(s.VerdictsTopic, s.Name+".verdicts"),
		Changelog:  cmp.Or(s.ChangelogTopic, s.Name+".changelog"),
		DeadLetter: cmp.Or(s.DeadLetterTopic, s.Name+".dead-letter"),
		Start:      s.Start, Offsets: s.offsets, CommitInterval: s.CommitInterval, SessionTimeout: s.SessionTimeout,
		TransactionBytes: transactionBytes, Memory: deployment.Memory(s.MemoryLimit), SingleReplica: s.SingleReplica,
		Undecided: s.Stream == "",
	}
	if s.Stream == wholeTopic {
		c.Order, c.OtherSequencer = cmp.Or(s.OrderTopic, s.Name+".order"), s.Sequencer == otherSequencer
	}
	operator := s.learner.Operator()
	if operator == nil {
		return c
	}
	c.FixedPartitions = s.UserID != "" && !c.WholeTopic()
	if output := operators.SecondTopicOf(operator); output != nil {
		c.Second = cmp.Or(s.SecondTopic, s.Name+"."+output.Suffix)
	}
	if s.describes(operator) {
		c.Descriptor = cmp.Or(s.DescriptorTopic, s.Name+".descriptor")
	}
	return c
}

// readStart reads the file of offsets that ORIEL_START may name, if it is needed.
func (s *Settings) readStart(p *operators.Problems, needed bool) {
	if !needed || s.Start == "" || s.Start == deployment.StartEarliest || s.Start == deployment.StartLatest {
		return
	}
	file, err := readFile(s.Start)
	if err == nil {
		s.offsets, err = deployment.ParseOffsets(file, s.InputTopic)
	}
	if err != nil {
		p.Break("START", "%s: not earliest, latest or a file of offsets: %w", shown(s.Start), err)
	}
}

// checkTopics refuses names of topics that the operator does not have.
func (s Settings) checkTopics(p *operators.Problems) {
	const idle = "set, but the operator has nothing to publish there"
	operator := s.learner.Operator()
	p.Want("SECOND_TOPIC", s.SecondTopic == "" || operators.SecondTopicOf(operator) != nil, idle)
	p.Want("DESCRIPTOR_TOPIC", s.DescriptorTopic == "" || s.describes(operator), idle)
}

// describes reports whether the deployment publishes a descriptor.
func (s Settings) describes(operator operators.Operator) bool {
	return operators.DescriptorOf(operator) != nil || score.Hashes(s.decoding.Body)
}

// LettersDeployment returns the result of Deployment with the consumer group of `oriel letters`.
func (s Settings) LettersDeployment() deployment.Config {
	c := s.Deployment()
	c.Group = cmp.Or(s.LettersGroup, s.Name+".letters")
	return c
}
