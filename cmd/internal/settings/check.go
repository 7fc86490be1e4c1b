package settings

import (
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strings"

	"oriel/mechanisms"
	"oriel/pipeline"
	"oriel/schemas"
)

// checker collects problems and skips variables that are already reported as missing or malformed.
type checker struct {
	broken map[string]bool
	errs   []error
}

func (c *checker) want(name string, ok bool, format string, args ...any) {
	if !ok && !c.broken[prefix+name] {
		c.errs = append(c.errs, fmt.Errorf("%s%s: "+format, append([]any{prefix, name}, args...)...))
	}
}

func (c *checker) oneOf(name, value string, values ...string) {
	c.want(name, slices.Contains(values, value), "%q: not one of %s", value, strings.Join(values, ", "))
}

func (c *checker) positive(name string, value float64) {
	c.want(name, value > 0 && !math.IsInf(value, 1), "%g: not positive and finite", value) // also catches NaN
}

// blt is the mechanism whose filter the age weight and the poles shape; maxFilter is the largest window it is fitted for.
const (
	blt       = "blt"
	maxFilter = 1 << 22
)

// maxDimension keeps a decision of 24 bytes a coordinate within the 8 MiB that the decision topic takes a record.
const maxDimension = 1 << 18

var deploymentName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,200}$`)

// check looks at values that are given or needed. Rules that need several packages (a tree's window, an oracle's set) are
// the packages' own, and are applied when the model is built.
func (s Settings) check(needs []Need, broken map[string]bool) []error {
	c := &checker{broken: broken}
	if slices.Contains(needs, Kafka) {
		for _, broker := range s.Brokers {
			host, port, err := net.SplitHostPort(broker)
			c.want("BROKERS", err == nil && host != "" && port != "", "%q: not host:port", broker)
		}
		s.checkSecurity(c)
		c.oneOf("LOG_FORMAT", s.LogFormat, "logfmt", "json")
	}
	if slices.Contains(needs, Deployment) {
		c.want("NAME", deploymentName.MatchString(s.Name), "%q: not 1 to 200 letters, digits, dots, underscores and hyphens", s.Name)
	}
	if slices.Contains(needs, Service) {
		_, _, err := net.SplitHostPort(s.HTTPAddr)
		c.want("HTTP_ADDR", err == nil, "%q: not host:port", s.HTTPAddr)
		c.oneOf("START", s.Start, "earliest", "latest")
		c.want("COMMIT_INTERVAL", s.CommitInterval >= 1e6 && s.CommitInterval <= 60e9, "%v: not within 1ms to 1m", s.CommitInterval)
		c.want("MEMORY", s.Memory >= int(pipeline.LeastMemory) && s.Memory <= int(pipeline.MostMemory), "%d: not within %d to %d",
			s.Memory, pipeline.LeastMemory, pipeline.MostMemory)
	}
	if slices.Contains(needs, Service) || slices.Contains(needs, Letters) {
		c.oneOf("LOG_LEVEL", s.LogLevel, "debug", "info", "warn", "error")
		c.want("SESSION_TIMEOUT", s.SessionTimeout >= 1e9 && s.SessionTimeout <= 1800e9, "%v: not within 1s to 30m", s.SessionTimeout)
	}
	if slices.Contains(needs, Letters) {
		c.want("LETTERS_GROUP", s.Name == "" || s.LettersDeployment().Group != s.Deployment().Group, "the same as the group of oriel run")
	}
	if slices.Contains(needs, Events) || slices.Contains(needs, Operator) {
		c.oneOf("LOSS", s.Loss, "linear", "logistic", "hinge", "squared", "absolute", "portfolio")
		if _, err := schemas.ParseRanges(s.FeaturesRange); err != nil {
			c.want("FEATURES_RANGE", false, "%w", err)
		}
		c.oneOf("FORMAT", s.Format, "json")
		c.oneOf("FEATURES_NORM", s.FeaturesNorm, "unit", "none")
		c.want("DIMENSION", s.Dimension >= 1 && s.Dimension <= maxDimension, "%d: not within 1 to %d", s.Dimension, maxDimension)
		c.want("MAX_RECORD_BYTES", s.MaxRecordBytes >= 1 && s.MaxRecordBytes <= 100<<20, "%d: not within 1 to 104857600", s.MaxRecordBytes)
	}
	if slices.Contains(needs, Operator) {
		s.checkOperator(c)
		s.checkPrivacy(c)
	}
	return c.errs
}

func (s Settings) checkSecurity(c *checker) {
	if s.SASLMechanism != "" {
		c.oneOf("SASL_MECHANISM", s.SASLMechanism, "plain", "scram-sha-256", "scram-sha-512")
		c.want("SASL_USER", s.SASLUser != "", "not set, but ORIEL_SASL_MECHANISM is")
		c.want("SASL_PASSWORD_FILE", s.SASLPasswordFile != "", "not set, but ORIEL_SASL_MECHANISM is")
	}
	c.want("TLS_KEY_FILE", (s.TLSKeyFile == "") == (s.TLSCertFile == ""), "a client certificate and its key are given together")
	c.want("TLS", s.TLS || (s.TLSCAFile == "" && s.TLSCertFile == ""), "false, but certificates are given")
}

func (s Settings) checkOperator(c *checker) {
	c.oneOf("OPERATOR", s.Operator, "coco")
	c.oneOf("UPDATE", s.Update, "projection", "llo", ogd)
	s.checkPair(c)
	c.oneOf("CONSTANTS", s.Constants, "proved", "paper")
	c.oneOf("SET", s.Set, "l2-ball", "l1-ball", "simplex", "box")
	c.want("SET", s.Loss != "portfolio" || s.Set == "simplex", "%q: the portfolio loss is defined on the simplex only", s.Set)
	c.positive("RADIUS", s.Radius)
	c.positive("STRONG_CONVEXITY", s.StrongConvexity)
	c.want("START_REGULARIZER", s.StartRegularizer >= 0 && !math.IsInf(s.StartRegularizer, 1), "%g: not at least 0 and finite", s.StartRegularizer)
	c.want("BATCH", s.Batch >= 1 && s.Batch <= 1<<31, "%d: not within 1 to 2147483648", s.Batch)
	c.want("EMIT_EVERY", s.EmitEvery >= 1, "%d: not at least 1", s.EmitEvery)
	c.want("CONFIDENCE", s.Confidence > 0 && s.Confidence < 1, "%g: not between 0 and 1", s.Confidence)
	if s.Update == "llo" {
		c.want("HORIZON", s.Horizon >= 1, "not set; ORIEL_UPDATE=llo needs the number of steps over which its error bound holds")
	}
}

func (s Settings) checkPrivacy(c *checker) {
	c.oneOf("MECHANISM", s.Mechanism, mechanisms.Names()...)
	c.oneOf("ADJACENCY", s.Adjacency, "replace", "zero-out")
	c.positive("EPSILON", s.Epsilon)
	c.positive("CLIP", s.Clip)
	s.checkUsers(c)
	s.checkWindow(c)
	if s.Mechanism == blt {
		c.want("AGE_WEIGHT", s.AgeWeight >= 0 && s.AgeWeight <= 1, "%g: not within 0 to 1", s.AgeWeight)
		c.want("POLES", s.Poles == 0 || s.Poles >= 2 && s.Poles <= 4, "%d: not 0, 2, 3 or 4", s.Poles)
	}
	if s.Mechanism == blt || strings.HasPrefix(s.Mechanism, "tree-gaussian") || s.Mechanism == "once-gaussian" {
		c.want("DELTA", s.Delta > 0 && s.Delta < 1, "%g: not between 0 and 1; %s needs it", s.Delta, s.Mechanism)
	}
}
