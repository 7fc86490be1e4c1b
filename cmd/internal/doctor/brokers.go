package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"oriel/pipeline/kafka/probe"
)

// checkBrokers asks each broker of ORIEL_BROKERS, and each broker that these brokers name. It reports whether any
// broker answers.
func (e *examination) checkBrokers(ctx context.Context) bool {
	const check = "brokers"
	if _, err := e.settings.Client(); e.refuse(check, err) {
		return false
	}
	cluster := probe.Cluster{}
	var answering []string
	for _, address := range e.settings.Brokers {
		found, err := e.look(ctx, address)
		switch {
		case e.refuse(check, origin(err, address, "ORIEL_BROKERS names it")):
		case cluster.ID != "" && found.ID != cluster.ID:
			e.refuse(check, fmt.Errorf("ORIEL_BROKERS: %s is of cluster %s, and %s of cluster %s. Name brokers of one cluster",
				address, found.ID, answering[0], cluster.ID))
		default:
			e.ok(check, "%s answers, lets the client in and is new enough (Kafka 3.1)", address)
			cluster = found
			answering = append(answering, address)
		}
	}
	if len(answering) == 0 {
		e.skipped(check, "no broker answers: rights, topics, records, clock and disk were not checked")
		return false
	}
	for _, b := range cluster.Brokers {
		if slices.Contains(e.settings.Brokers, b.Address) {
			continue
		}
		_, err := e.look(ctx, b.Address)
		cause := fmt.Sprintf("the cluster names broker %d, but the broker does not answer; its advertised.listeners must be reachable from here", b.Node)
		if !e.refuse(check, origin(err, b.Address, cause)) {
			e.ok(check, "%s answers: broker %d by its advertised.listeners", b.Address, b.Node)
		}
	}
	client, err := e.client(answering...)
	if e.refuse(check, err) {
		return false
	}
	e.deployed.Client = client
	return true
}

// origin adds to a broker's error the source from which the client has the broker's address.
func origin(err error, address, why string) error {
	if err == nil {
		return nil
	}
	text := fmt.Errorf("%s: %w", address, err)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s does not answer (%s). Is there a firewall, or a listener that speaks TLS where ORIEL_TLS is not set, or "+
			"the other way round?", address, why)
	}
	if strings.Contains(err.Error(), address) { // errors of connections already contain the address
		text = err
	}
	return fmt.Errorf("%w (%s)", text, why)
}

// look asks one broker for its API versions and for the brokers that it knows.
func (e *examination) look(ctx context.Context, address string) (cluster probe.Cluster, err error) {
	client, err := e.client(address)
	if err != nil {
		return cluster, err
	}
	cluster, err = ask(ctx, e, func(ctx context.Context) (probe.Cluster, error) {
		if err := probe.Serves(ctx, client); err != nil {
			return probe.Cluster{}, err
		}
		return probe.Look(ctx, client)
	})
	return cluster, errors.Join(err, client.Close())
}

// mostSkew is the largest allowed difference of two clocks. Brokers refuse records from the future
// (message.timestamp.after.max.ms, one hour by default), and certificates and tokens tolerate a difference of some
// minutes at most.
const mostSkew = time.Minute

// checkClock compares this computer's clock with the controller's.
func (e *examination) checkClock(ctx context.Context) {
	const check = "clock"
	before := e.options.Now()
	theirs, err := ask(ctx, e, func(ctx context.Context) (time.Time, error) { return probe.Clock(ctx, e.deployed.Client) })
	took := e.options.Now().Sub(before)
	switch {
	case errors.Is(err, probe.ErrNoClock):
		e.skipped(check, "%v: a user with DESCRIBE on the cluster sees it, from Kafka 3.3 on", err)
		return
	case e.refuse(check, err):
		return
	}
	skew := before.Add(took / 2).Sub(theirs)
	if skew.Abs() > mostSkew {
		e.refuse(check, fmt.Errorf("this machine is %v ahead of the brokers (negative: behind), and at most %v is allowed. "+
			"Let NTP set both clocks", skew.Round(time.Second), mostSkew))
		return
	}
	e.ok(check, "within %v of the brokers'", max(skew.Abs(), took).Round(time.Millisecond))
}
