package console

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"oriel/pipeline/notice"
)

// retryWindow is the time for which a retried request keeps the process from being ready. It is about twenty times the
// longest pause between retries, so that /readyz does not flicker during a long outage.
const retryWindow = 5 * time.Second

// Console keeps the state of each partition for /readyz. It is safe for concurrent use.
type Console struct {
	audience notice.Audience

	mu     sync.Mutex
	states map[int32]notice.TaskState // partitions of the last share; closed ones stay until the next share
	joined bool
	share  bool // the process has a share of the group's partitions, perhaps an empty one
	stands notice.Standby
	inputs map[int32]bool // input partitions that the stream waits for
	full   bool           // the disk of the local store is full
	failed error          // last error of a coordinator that denies requests
	denied time.Time      // time of that error
	retry  time.Time      // time of the last retry; zero if there was none
	group  []string       // partitions that no member has, or a group that is another one
	guests []string       // foreign members, which take nothing away
	doubt  error          // a problem of the topics that counts only if it is found again; nil: none
}

// New returns the console of a process that has not joined its group.
func New(a notice.Audience) *Console {
	return &Console{audience: a, states: map[int32]notice.TaskState{}, inputs: map[int32]bool{}}
}

// Listen returns a listener that updates the console and then calls the functions of l.
//
// A partition counts as one that is restored from the moment in which it is assigned. A closed one keeps the process
// from being ready until the next share, and so does the end of a share. So a process that ends is never ready, however
// it ends.
func (c *Console) Listen(l notice.Listener) notice.Listener {
	return notice.Both(notice.Listener{
		Assigned: func(partitions []int32) {
			c.change(func() {
				c.joined, c.share = true, true
				clear(c.states)
				for _, p := range partitions {
					c.states[p] = notice.Restoring
				}
			})
		},
		Unassigned: func() { c.change(func() { c.share = false }) },
		Members: func(foreign, problems []string) {
			c.change(func() { c.guests, c.group = foreign, problems })
		},
		Doubted: func(problem error) { c.change(func() { c.doubt = problem }) },
		State:   func(p int32, s notice.TaskState) { c.change(func() { c.states[p] = s }) },
		Closed: func(p int32) {
			c.change(func() {
				if c.states[p] != notice.Halted {
					c.states[p] = closed
				}
			})
		},
		Standby:  func(s notice.Standby) { c.change(func() { c.stands = s }) },
		DiskFull: func(full bool) { c.change(func() { c.full = full }) },
		Waits: func(_, input int32, waits bool) {
			c.change(func() {
				if delete(c.inputs, input); waits {
					c.inputs[input] = true
				}
			})
		},
	}, l)
}

// closed is the state of a partition that was given up.
const closed notice.TaskState = "closed"

func (c *Console) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// Retrying records that a request to the brokers failed and will be sent again.
func (c *Console) Retrying() { c.change(func() { c.retry = time.Now() }) }

// Denied records that a coordinator denies requests; why names the broker to restart.
func (c *Console) Denied(why error) { c.change(func() { c.failed, c.denied = why, time.Now() }) }

// Handler serves the pages; /metrics shows the metrics of g.
func (c *Console) Handler(g prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{DisableCompression: true}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", c.ready)
	return mux
}

// Connections is the limit of simultaneous connections that the pages should have (netutil.LimitListener). Scrapers and
// probes need only a few, and each takes a file descriptor, which connections to brokers and the local store need too.
const Connections = 64

// Limits of one connection. A page takes milliseconds; a slower client must not keep the connection.
const (
	headerTimeout = 5 * time.Second  // limit for reading a request's header
	readTimeout   = 10 * time.Second // limit for reading a request
	writeTimeout  = 30 * time.Second // limit for sending an answer
	idleTimeout   = time.Minute      // limit for the next request; scrapers come more often
)

// Server is an http.Server with limits that fit pages of a few KiB. The caller must serve it on a listener with at most
// Connections connections.
func (c *Console) Server(g prometheus.Gatherer) *http.Server {
	return &http.Server{
		Handler: c.Handler(g), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: 16 << 10,
	}
}

// Reasons for which a process is not ready: values of the label reason of oriel_waiting.
const (
	reasonPartitions = "partitions" // a partition is being restored, has stopped, or is being copied for stand-by
	reasonDisk       = "disk"
	reasonInput      = "input" // the input partition that is next in the order is unavailable
	reasonGroup      = "group"
	reasonBrokers    = "brokers"
)

// reasons lists the reasons for each audience in the order of their lines in /readyz. The others depend on records: the
// stream waits for a partition, a disk or a broker only if there are records to read, to keep or to ask for.
var reasons = map[notice.Audience][]string{
	notice.Operators: {reasonPartitions, reasonInput, reasonDisk, reasonGroup, reasonBrokers},
	notice.Readers:   {reasonPartitions, reasonGroup},
}

// Waiting reports for each reason whether it keeps the process from being ready.
func (c *Console) Waiting() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.waiting()
	waits := map[string]bool{}
	for _, r := range reasons[c.audience] {
		waits[r] = len(lines[r]) > 0
	}
	return waits
}

// Reason is a reason for which a process is not ready: its label in oriel_waiting, and its lines in /readyz.
type Reason struct {
	Name  string   `json:"name"`
	Lines []string `json:"lines"`
}

// Reasons returns the reasons for which the process is not ready, in the order of /readyz. A ready process has none.
func (c *Console) Reasons() (all []Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.waiting()
	for _, name := range reasons[c.audience] {
		if len(lines[name]) > 0 {
			all = append(all, Reason{name, lines[name]})
		}
	}
	return all
}

// waiting returns the lines of /readyz by reason.
func (c *Console) waiting() map[string][]string {
	lines := map[string][]string{}
	for p, s := range c.states {
		if s != notice.Running {
			lines[reasonPartitions] = append(lines[reasonPartitions], fmt.Sprintf("partition %d: %s", p, s))
		}
	}
	slices.Sort(lines[reasonPartitions])
	if c.joined && !c.share {
		lines[reasonPartitions] = append(lines[reasonPartitions], "the process gives up its partitions")
	}
	if c.stands == notice.Copying {
		lines[reasonPartitions] = append(lines[reasonPartitions], "standing by: the changelog is being copied")
	}
	for _, input := range slices.Sorted(maps.Keys(c.inputs)) {
		lines[reasonInput] = append(lines[reasonInput],
			fmt.Sprintf("input: partition %d has no leader, or its leader lacks the records that are next in the order", input))
	}
	if c.full {
		lines[reasonDisk] = []string{"disk: the local store waits for room"}
	}
	if len(c.group) > 0 { // foreign members first, because they are the cause
		lines[reasonGroup] = slices.Concat(c.guests, c.group)
	}
	if !c.joined {
		lines[reasonGroup] = append(lines[reasonGroup], "not a member of the group")
	}
	switch {
	case c.failed != nil && time.Since(c.denied) < retryWindow:
		lines[reasonBrokers] = []string{fmt.Sprintf("brokers: %v", c.failed)}
	case !c.retry.IsZero() && time.Since(c.retry) < retryWindow:
		lines[reasonBrokers] = []string{"brokers: requests are being retried"}
	}
	if c.doubt != nil {
		lines[reasonBrokers] = append(lines[reasonBrokers],
			fmt.Sprintf("topics: the service looks again before it stops: %v", c.doubt))
	}
	return lines
}

func (c *Console) ready(w http.ResponseWriter, _ *http.Request) {
	var waiting []string
	for _, reason := range c.Reasons() {
		waiting = append(waiting, reason.Lines...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.audience == notice.Readers && len(waiting) > 0:
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	case c.audience == notice.Readers:
		fmt.Fprintln(w, "ready")
		return
	case len(waiting) == 0:
		fmt.Fprintln(w, "ready")
		if c.stands == notice.Warm {
			fmt.Fprintln(w, "standing by")
		}
		for _, line := range c.guests {
			fmt.Fprintln(w, line)
		}
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	if len(c.group) == 0 { // otherwise waiting has the foreign members
		waiting = append(waiting, c.guests...)
	}
	for _, line := range waiting {
		fmt.Fprintln(w, line)
	}
}
