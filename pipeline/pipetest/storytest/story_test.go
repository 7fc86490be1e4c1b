package storytest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// story is a deployment and the parts of its transcript so far.
type story struct {
	*simtest.Deployment
	name    string // of the file
	setup   pipetest.Setup
	members map[string]*simtest.Member // newest member by name
	groups  map[string]string          // its group
	told    int                        // number of requests that the story has listed

	whole      bool // the input is one stream
	partitions int
	torn       map[int32]pipetest.Torn
	checkpoint []byte

	mu   sync.Mutex
	said []saying
}

// saying is a message of a process, with its time.
type saying struct {
	at        time.Time
	member    string
	partition int32
	text      string
}

// random matches the digits of an id that differs between runs.
var random = regexp.MustCompile(`[0-9a-f]{32}`)

// play executes one command.
func (s *story) play(t *testing.T, c *datadriven.TestData) string {
	t.Helper()
	if (s.Deployment == nil) != (c.Cmd == "deployment") {
		c.Fatalf(t, "a story begins with one deployment")
	}
	command, known := map[string]func(*testing.T, *datadriven.TestData) string{
		"deployment": s.deployment, "start": s.start, "stop": s.stop, "kill": s.kill, "append": s.append, "wait": s.wait,
		"grow": s.grow, "topics": s.topics, "fail": s.fail, "mend": s.mend, "requests": s.requests, "decisions": s.decisions,
		"group": s.group, "drop": s.drop,
		"tear": s.tear, "reset": s.reset, "delete": s.delete, "upgrade": s.upgrade, "save": s.save, "check": s.check,
	}[c.Cmd]
	if !known {
		c.Fatalf(t, "no such command")
	}
	return command(t, c)
}

func (s *story) deployment(t *testing.T, c *datadriven.TestData) string {
	partitions := 1
	c.MaybeScanArgs(t, "partitions", &partitions)
	s.Deployment, s.setup = simtest.New(t), pipetest.NewSetup()
	s.shape(t, c)
	if s.whole {
		s.setup = s.setup.WholeTopic()
	}
	s.partitions, s.torn = partitions, map[int32]pipetest.Torn{}
	if err := s.setup.Prepare(t.Context(), s.Client(), partitions); err != nil {
		c.Fatalf(t, "%v", err)
	}
	return ""
}

func (s *story) grow(t *testing.T, c *datadriven.TestData) string {
	var partitions int
	c.ScanArgs(t, "partitions", &partitions)
	if err := topics.AddPartitions(t.Context(), s.Client(), s.setup.Config.Input, partitions); err != nil {
		c.Fatalf(t, "%v", err)
	}
	return ""
}

func (s *story) drop(t *testing.T, c *datadriven.TestData) string {
	var topic string
	c.ScanArgs(t, "topic", &topic)
	err := logtest.Delete(t.Context(), s.Client(), topic)
	if err == nil && c.HasArg("again") {
		err = topics.Create(t.Context(), s.Client(), topic, s.partitions, 1,
			map[string]string{"max.message.bytes": "8388608"})
	}
	if err != nil {
		c.Fatalf(t, "%v", err)
	}
	return ""
}

func (s *story) topics(t *testing.T, _ *datadriven.TestData) string {
	var said strings.Builder
	if err := s.setup.Topics(t.Context(), s.Client(), func(what string) { fmt.Fprintln(&said, what) }); err != nil {
		return err.Error()
	}
	return said.String()
}

func (s *story) start(t *testing.T, c *datadriven.TestData) string {
	name := c.CmdArgs[0].Key
	owner := name
	if disk, given := c.Arg("disk"); given {
		owner = disk.Vals[0]
	}
	disk := simtest.NewDisk()
	if last := s.members[owner]; last != nil {
		disk = last.Disk()
	}
	group := s.setup.Config.Group
	c.MaybeScanArgs(t, "group", &group)
	s.members[name], s.groups[name] = s.run(name, group, disk), group
	return ""
}

// run starts a process that records the messages of its service while it lives.
func (s *story) run(name, group string, disk *vfs.MemFS) *simtest.Member {
	return s.Start(name, disk, func(ctx context.Context, m *simtest.Member) error {
		setup := s.setup
		setup.Config.Group = group
		setup.Listener = s.listener(m)
		return setup.Run(ctx, m)
	})
}

// process is used in place of a partition, for messages about the process itself.
const process = -1

func (s *story) listener(m *simtest.Member) notice.Listener {
	say := func(p int32, format string, args ...any) {
		if !m.Alive() {
			return
		}
		text := m.Name + ": "
		if p >= 0 {
			text += fmt.Sprintf("partition %d: ", p)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.said = append(s.said, saying{
			time.Now(), m.Name, p,
			text + random.ReplaceAllString(s.plain(fmt.Sprintf(format, args...)), "…"),
		})
	}
	return notice.Listener{
		Assigned:  func(partitions []int32) { say(process, "assigned %v", partitions) },
		Opened:    func(p int32) { say(p, "opened") },
		State:     func(p int32, state notice.TaskState) { say(p, "%s", state) },
		Committed: func(c notice.Commit) { say(c.Partition, "committed %d records", c.Records) },
		Aborted:   func(p int32) { say(p, "aborted") },
		Restarted: func(p int32, err error) { say(p, "taken over again: %v", err) },
		Stopped:   func(p int32, err error) { say(p, "%v", err) },
		Note:      func(p int32, text, detail string) { say(p, "note: %s%s", text, detail) },
		Doubted:   func(err error) { say(process, "doubts: %v", err) },
		Ended:     func(e notice.Ending) { say(process, "ended, committed: %t, left: %t", e.Committed, e.Left) },
	}
}

func (s *story) member(t *testing.T, c *datadriven.TestData) *simtest.Member {
	m := s.members[c.CmdArgs[0].Key]
	if m == nil {
		c.Fatalf(t, "no such member")
	}
	return m
}

func (s *story) stop(t *testing.T, c *datadriven.TestData) string {
	m := s.member(t, c)
	if err := m.Stop(); err != nil {
		s.examined(t, m, err)
		return s.plain(err.Error())
	}
	return s.meanwhile()
}

// atWork has what only a process at work can find, with the story in which it does: it is about an event that was not
// taken, or about a change since the start. "": all stories
var atWork = map[string]string{
	"since this process started":       "",
	"one user has events in partition": "users.txt",
}

// examined checks that an examination finds what has ended a process.
func (s *story) examined(t *testing.T, m *simtest.Member, ended error) {
	t.Helper()
	setup := s.setup
	setup.Config.Group = s.groups[m.Name]
	found := setup.Examine(t.Context(), s.Client(), m.Disk())
	for reason := range strings.Lines(ended.Error()) {
		reason = strings.TrimSpace(reason)
		hidden := false
		for text, story := range atWork {
			hidden = hidden || strings.Contains(reason, text) && (story == "" || story == s.name)
		}
		if hidden {
			continue
		}
		if found == nil || !strings.Contains(found.Error(), reason) {
			t.Errorf("%s ended with %q, and an examination says %v", m.Name, reason, found)
		}
	}
}

func (s *story) kill(t *testing.T, c *datadriven.TestData) string {
	m := s.member(t, c)
	at, later := c.Arg("at")
	if !later {
		m.Kill()
		return s.meanwhile()
	}
	nth := 1
	c.MaybeScanArgs(t, "nth", &nth)
	s.watch(t, c)
	m.KillAt(notice.Point(at.Vals[0]), nth)
	return ""
}

func (s *story) append(t *testing.T, c *datadriven.TestData) string {
	var n, size int
	var key string
	c.ScanArgs(t, "n", &n)
	c.MaybeScanArgs(t, "size", &size)
	c.MaybeScanArgs(t, "key", &key)
	record := records.Record{Value: make([]byte, size)}
	if key != "" {
		record.Key = []byte(key)
	}
	if err := logtest.Send(t.Context(), s.Client(), s.setup.Config.Input, partition(t, c),
		slices.Repeat([]records.Record{record}, n)...); err != nil {
		c.Fatalf(t, "%v", err)
	}
	return ""
}

func partition(t *testing.T, c *datadriven.TestData) int32 {
	var p int
	c.MaybeScanArgs(t, "partition", &p)
	return int32(p)
}

func (s *story) wait(t *testing.T, c *datadriven.TestData) string {
	d, err := time.ParseDuration(c.CmdArgs[0].Key)
	if err != nil {
		c.Fatalf(t, "%v", err)
	}
	time.Sleep(d)
	return s.meanwhile()
}

// meanwhile returns the messages of the processes since its last call. Messages of different partitions at one moment
// are sorted, because their order is random.
func (s *story) meanwhile() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.said, func(a, b saying) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.member, b.member), cmp.Compare(a.partition, b.partition))
	})
	var lines strings.Builder
	for _, said := range s.said {
		fmt.Fprintln(&lines, said.text)
	}
	s.said = nil
	return lines.String()
}

func (s *story) group(t *testing.T, c *datadriven.TestData) string {
	offset, err := group.CommittedOffset(t.Context(), s.Client(), s.setup.Config.Group, s.setup.Config.Input,
		partition(t, c))
	if err != nil {
		c.Fatalf(t, "%v", err)
	}
	return strconv.FormatInt(offset, 10)
}
