package exit

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka"
)

// Exit codes other than 0 for success. Failure is an error during work. Misuse is a wrong command line or wrong
// settings; a retry would fail again.
const (
	Failure = 1
	Misuse  = 2
)

// UsageError is an error of the command line.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// WrongUse returns an error about flags or their values.
func WrongUse(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

func exitCode(err error) int {
	var use UsageError
	var invalid settings.Invalid
	if errors.As(err, &use) || errors.As(err, &invalid) {
		return Misuse
	}
	return Failure
}

// Report prints each problem of a joined error on its own line, after the name of the program. It returns the exit
// code.
func Report(w io.Writer, program string, err error) (code int) {
	if err == nil {
		return 0
	}
	if all := Problems(err); len(all) > 1 {
		fmt.Fprintf(w, "%s: %d problems\n", program, len(all))
		for _, e := range all {
			fmt.Fprintf(w, "  %s\n", Plain(e))
		}
		return exitCode(err)
	}
	fmt.Fprintf(w, "%s: %s\n", program, Plain(err))
	if remedy := Remedy(err); remedy != "" {
		fmt.Fprintf(w, "  %s\n", remedy)
	}
	return exitCode(err)
}

// Remedy returns advice for an error whose text has none, or "".
func Remedy(err error) string {
	if refused, is := errors.AsType[*kafka.RefusedError](err); is {
		return remedies[refused.Why]
	}
	if _, denied := errors.AsType[*kafka.DeniedError](err); denied {
		return "deploy/OPERATING.md lists the rights (ACLs) that each command needs"
	}
	return ""
}

// Problems returns the errors that errors.Join has joined; it opens no other wrapper.
func Problems(err error) []error {
	joined, is := err.(interface{ Unwrap() []error })
	if !is || fmt.Sprint(err) != fmt.Sprint(errors.Join(joined.Unwrap()...)) {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Problems(e)...)
	}
	return all
}

// Plain removes the package name from an error's text, and the note that the error concerns the whole deployment,
// because neither helps a person at a terminal.
func Plain(err error) string {
	text := strings.TrimPrefix(err.Error(), "pipeline: ")
	return strings.TrimPrefix(text, "deployment: ")
}

// remedies maps the broker's refusal of credentials to the settings to correct.
var remedies = map[kafka.Refusal]string{
	kafka.NoAnswer:         "ORIEL_BROKERS must name brokers that run, and their advertised.listeners must lead there from this machine",
	kafka.NotTrusted:       "ORIEL_TLS_CA_FILE names the authorities to trust; the certificate must be for the host in ORIEL_BROKERS",
	kafka.NoTLS:            "leave out ORIEL_TLS, or name a port that speaks TLS in ORIEL_BROKERS",
	kafka.CertificateAsked: "ORIEL_TLS_CERT_FILE and ORIEL_TLS_KEY_FILE give a certificate that the brokers trust",
	kafka.LoginRefused:     "ORIEL_SASL_MECHANISM, ORIEL_SASL_USER and ORIEL_SASL_PASSWORD_FILE must be of a user that the brokers know",
	kafka.NoToken: "the setting that the message names must lead to a token: ORIEL_OAUTH_TOKEN_FILE, or ORIEL_OAUTH_TOKEN_URL with " +
		"ORIEL_OAUTH_CLIENT_ID and ORIEL_OAUTH_CLIENT_SECRET_FILE",
	kafka.TokenRefused: "the brokers must trust the tokens' issuer and audience (ORIEL_OAUTH_TOKEN_URL, ORIEL_OAUTH_SCOPE), and clocks must agree; " +
		"a token of ORIEL_OAUTH_TOKEN_FILE may have expired",
	kafka.HungUp: "if the listener speaks TLS, set ORIEL_TLS=true; if it does not, leave out ORIEL_TLS; if it wants a login, set ORIEL_SASL_MECHANISM, ORIEL_SASL_USER and " +
		"ORIEL_SASL_PASSWORD_FILE",
}
