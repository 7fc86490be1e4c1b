package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/servicetest"
)

// shell is a shell in an empty home folder, with the command as ./oriel.
type shell struct {
	t    *testing.T
	home string
	env  []string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, home: t.TempDir()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	_ = listener.Close()
	s.env = []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + s.home, "ORIEL_HTTP_ADDR=" + addr,
		"TEST_CHILD=1",
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(s.home, "oriel")); err != nil {
		t.Fatal(err)
	}
	return s
}

// paste runs the commands and returns their output. It fails if the last command fails.
func (s *shell) paste(text string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = s.home, s.env, strings.NewReader(text), time.Second
	said := &servicetest.Output{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%v\n%s\n%s", err, text, said.String())
	}
	return said.String()
}

// TestHourlyNumbersOfTheReadme runs the commands of README.md as a new user would, over a topic that has orders of two
// past hours and of the present one. They must end in numbers of each past hour, near the true ones. A real broker has
// one clock, so that its past hours are empty.
func TestHourlyNumbersOfTheReadme(t *testing.T) {
	t.Parallel()
	now := time.Now()
	clock, broker := now, os.Getenv("TEST_BROKERS")
	if broker == "" {
		broker = servicetest.ClockedBroker(t, func() time.Time { return clock })
	}
	f, s := &fixture{servicetest.NewAt(t, broker, 2, nil)}, newShell(t)
	topic := f.Topic("orders")
	f.Env["ORIEL_INPUT_TOPIC"] = topic
	f.CreateTopic(topic, 2, map[string]string{"message.timestamp.type": "LogAppendTime"})
	truth := map[string]int{}
	for _, sent := range [][2]int{{5, 300}, {2, 180}, {0, 60}} { // in the order of their times, as a broker has them
		ago, persons := sent[0], sent[1]
		clock = now.Add(-time.Duration(ago) * time.Hour)
		for i := range persons {
			country := []string{"DE", "FR", "US"}[i%5/2]
			r := servicetest.Value(fmt.Sprintf(`{"id":"o%d","customer":{"country":%q},"total":%d.5}`, i, country, i%90))
			r.Key = fmt.Appendf(nil, "%d-%d", ago, i)
			f.Send(int32(i%2), r)
			if ago > 0 && os.Getenv("TEST_BROKERS") == "" {
				truth[clock.UTC().Format("2006-01-02T15")+" "+country]++
			}
		}
	}
	clock = now
	commands := strings.NewReplacer("go build -o oriel ./cmd/oriel && ", "", "localhost:9092", broker, "orders", topic,
		" run\n", " run > log 2>&1 &\necho $! > pid\n",
	).Replace(repotest.Block(t, "README.md", "init --brokers"))
	commands, numbers, _ := strings.Cut(strings.TrimSpace(commands), "echo $! > pid\n")
	said := s.paste(commands + "echo $! > pid\n")
	t.Cleanup(func() {
		pid, err := os.ReadFile(filepath.Join(s.home, "pid"))
		if err == nil {
			err = exec.Command("kill", strings.TrimSpace(string(pid))).Run()
		}
		if err != nil {
			log, _ := os.ReadFile(filepath.Join(s.home, "log"))
			t.Errorf("%v: %s", err, log)
		}
	})
	if want := "All that a person (key) sends in 1d is protected together"; !strings.Contains(said, want) {
		t.Errorf("%s\nlacks %s", said, want)
	}
	row := regexp.MustCompile(`(?m)^(\d{4}-\d\d-\d\dT\d\d):00\S* +(DE|FR|US) +count +(-?\d+)`)
	var rows [][]string
	f.Await(time.Minute, "24 hours of numbers", func() bool {
		rows = row.FindAllStringSubmatch(s.paste("{ "+numbers+"\n} || true"), -1)
		return len(rows) >= 24*3
	})
	for _, r := range rows {
		y, err := strconv.Atoi(r[3])
		if want := truth[r[1]+" "+r[2]]; err != nil || y < want-25 || y > want+25 { // e^−25 at ε = 1
			t.Errorf("%q, the true number is %d", r[0], want)
		}
	}
	t.Log(said, "\n", s.paste(numbers))
}
