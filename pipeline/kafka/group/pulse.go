package group

import (
	"context"
	"errors"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
)

// watchInterval is the time between checks for partitions added to the topic.
const watchInterval = 5 * time.Second

// heartbeats keeps a member alive at the coordinator. Heartbeats are sent from the answer to one join until the answer
// to the next. So they continue while the member closes its tasks, rejoins and syncs, which may take longer than the
// session timeout.
type heartbeats struct {
	ended    chan struct{} // closed when the member must join again, for any reason
	lost     chan struct{} // closed when others may have the member's partitions
	expelled chan struct{} // closed when the coordinator does not know the member and may never answer its requests
	verdict  error         // the reason; valid after expelled is closed
	once     sync.Once
	cancel   context.CancelFunc
	workers  sync.WaitGroup
}

// beat starts heartbeats. The leader watches the number of partitions that it has assigned; for other members
// partitions is negative.
func (g *Member) beat(generation int32, partitions int) *heartbeats {
	ctx, cancel := context.WithCancel(context.Background())
	p := &heartbeats{
		ended: make(chan struct{}), lost: make(chan struct{}), expelled: make(chan struct{}), cancel: cancel,
	}
	req := g.heartbeat(generation) // made once: the group's fields do not change while heartbeats run
	p.workers.Go(func() { p.beat(ctx, g, &req) })
	if partitions >= 0 {
		p.workers.Go(func() { p.watch(ctx, g, partitions) })
	}
	return p
}

// end makes the member join again; heartbeats continue.
func (p *heartbeats) end() { p.once.Do(func() { close(p.ended) }) }

// lose ends the member's share. Only the goroutine that sends heartbeats calls it.
func (p *heartbeats) lose(g *Member) {
	if p.isLost() {
		return
	}
	close(p.lost)
	g.lose()
	p.end()
}

func (p *heartbeats) isLost() bool { return isClosed(p.lost) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// stop ends heartbeats and waits for their goroutines. It does nothing on a nil pointer.
func (p *heartbeats) stop() {
	if p != nil {
		p.end()
		p.cancel()
		p.workers.Wait()
	}
}

func (p *heartbeats) beat(ctx context.Context, g *Member, req *kmsg.HeartbeatRequest) {
	ticker := time.NewTicker(min(time.Second, g.config.SessionTimeout/4))
	defer ticker.Stop()
	for answered := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		request, cancel := context.WithTimeout(ctx, g.config.SessionTimeout/2)
		answer, err := ask[*kmsg.HeartbeatResponse](request, g, req, heartbeatVersion)
		if cancel(); err == nil {
			err = kafka.CodeError(answer.ErrorCode)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			answered = time.Now()
		case errors.Is(err, kafkago.RebalanceInProgress):
			answered = time.Now()
			p.end()
		case expelled(err):
			p.lose(g)
			p.verdict = err
			close(p.expelled)
			return
		case errors.Is(err, kafkago.IllegalGeneration): // a newer one has begun, perhaps by a join in progress
			p.end()
			return
		case !kafka.Transient(err):
			p.lose(g)
			return
		default:
			g.client.OnRetry("heartbeat of group "+g.config.ID, err)
			if time.Since(answered) >= g.config.SessionTimeout {
				p.lose(g)
			}
		}
	}
}

// watch makes the member join again when the number of the topic's partitions changes. Only the leader watches, because
// only its rejoin makes the coordinator ask for new assignments.
func (p *heartbeats) watch(ctx context.Context, g *Member, partitions int) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if cluster, err := topics.Describe(ctx, g.client, g.config.Topic); err == nil &&
			cluster.Topics[g.config.Topic].Partitions != partitions {
			p.end()
			return
		}
	}
}
