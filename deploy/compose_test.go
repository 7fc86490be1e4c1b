package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// nonroot is the user id in distroless images.
const nonroot = "65532"

func project(t *testing.T, example string) *types.Project {
	t.Helper()
	return projectWith(t, cli.WithEnv([]string{"EXAMPLE=" + example}))
}

func projectWith(t *testing.T, more ...cli.ProjectOptionsFn) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"compose.yaml"}, more...)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatalf("compose.yaml: %v", err)
	}
	return loaded
}

// TestComposeRunsEveryExample loads the compose project with each example and checks everything that the service needs.
func TestComposeRunsEveryExample(t *testing.T) {
	files, err := filepath.Glob("examples/*.env")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		example := strings.TrimSuffix(filepath.Base(file), ".env")
		t.Run(example, func(t *testing.T) {
			p := project(t, example)
			for _, name := range []string{"topics", "oriel", "letters"} {
				checkOriel(t, p, p.Services[name])
			}
			checkScrape(t, p, example)
		})
	}
}

func checkOriel(t *testing.T, p *types.Project, service types.ServiceConfig) {
	t.Helper()
	setting := func(name string) string {
		if value := service.Environment[name]; value != nil {
			return *value
		}
		t.Errorf("%s: %s is not set", service.Name, name)
		return ""
	}
	if len(service.Secrets) != 1 {
		t.Fatalf("%s: %d secrets, want the master key", service.Name, len(service.Secrets))
	}
	key := service.Secrets[0]
	if path := setting("ORIEL_MASTER_KEY_FILE"); path != "/run/secrets/"+key.Target {
		t.Errorf("%s: the key is mounted as %s, the setting says %s", service.Name, key.Target, path)
	}
	if key.UID != nonroot || key.Mode == nil || *key.Mode != 0o400 {
		t.Errorf("%s: the key must be readable by uid %s alone", service.Name, nonroot)
	}
	if file := p.Secrets[key.Source].File; filepath.Base(filepath.Dir(file)) != "secrets" {
		t.Errorf("%s: the key is %s, which git does not ignore", service.Name, file)
	}
	if !service.ReadOnly || service.Privileged || len(service.CapDrop) == 0 {
		t.Errorf("%s: the root file system must be read-only and capabilities dropped", service.Name)
	}
	if setting("ORIEL_ALLOW_SINGLE_REPLICA") != "true" {
		t.Errorf("%s: a single broker needs ORIEL_ALLOW_SINGLE_REPLICA=true", service.Name)
	}
	if host, _, _ := strings.Cut(setting("ORIEL_BROKERS"), ":"); p.Services[host].Name != host {
		t.Errorf("%s: broker %s is no service", service.Name, host)
	}
	for name, value := range service.Environment {
		if value == nil {
			continue
		}
		if _, err := os.Stat(*value); err == nil && !hasFile(p, service, *value) {
			t.Errorf("%s: %s=%s is not in the container", service.Name, name, *value)
		}
	}
	if service.Name == "oriel" {
		dir := setting("ORIEL_STATE_DIR")
		if len(service.Volumes) != 1 || service.Volumes[0].Target != dir {
			t.Errorf("no volume at ORIEL_STATE_DIR=%s", dir)
		}
		if _, port, _ := strings.Cut(setting("ORIEL_HTTP_ADDR"), ":"); service.Ports[0].Published != port {
			t.Errorf("port %s is published, ORIEL_HTTP_ADDR has %s", service.Ports[0].Published, port)
		}
	}
}

// checkScrape compares Prometheus's configuration in the project with the file beside it, for the example's deployment.
func checkScrape(t *testing.T, p *types.Project, example string) {
	t.Helper()
	name := *p.Services["oriel"].Environment["ORIEL_NAME"]
	if name != example { // compose.yaml itself uses this example
		options := []cli.ProjectOptionsFn{cli.WithEnv([]string{"EXAMPLE=" + example, "DEPLOYMENT=" + name})}
		p = projectWith(t, options...)
		if !strings.Contains(read(t, "compose.yaml"), "EXAMPLE="+example+", which is DEPLOYMENT="+name) {
			t.Errorf("compose.yaml does not say that EXAMPLE=%s has ORIEL_NAME=%s", example, name)
		}
	}
	given := p.Configs["prometheus"].Content
	want := strings.Replace(read(t, "prometheus/prometheus.yml"), "deployment: flights", `deployment: "`+name+`"`, 1)
	if strings.TrimSpace(given) != strings.TrimSpace(want) {
		t.Errorf("Prometheus is given\n%s\nwant\n%s", given, want)
	}
	for _, config := range p.Services["prometheus"].Configs {
		if config.Source == "prometheus" && config.Target == "/etc/prometheus/prometheus.yml" {
			return
		}
	}
	t.Error("Prometheus is not given its configuration")
}

// hasFile reports whether a service's container has a file of this folder at the same path.
func hasFile(p *types.Project, service types.ServiceConfig, path string) bool {
	for _, config := range service.Configs {
		file, err := filepath.Rel(p.WorkingDir, p.Configs[config.Source].File)
		if err == nil && file == path && filepath.Join(service.WorkingDir, path) == config.Target {
			return true
		}
	}
	return false
}

// TestComposeOrder checks the order of start: Kafka is healthy, then the input topic is created, then Oriel's topics
// are checked, then the service starts.
func TestComposeOrder(t *testing.T) {
	p := project(t, "flights")
	for _, c := range []struct{ service, after, condition string }{
		{"input", "kafka", types.ServiceConditionHealthy},
		{"topics", "input", types.ServiceConditionCompletedSuccessfully},
		{"oriel", "topics", types.ServiceConditionCompletedSuccessfully},
		{"letters", "topics", types.ServiceConditionCompletedSuccessfully},
		{"grafana", "prometheus", types.ServiceConditionHealthy},
	} {
		if got := p.Services[c.service].DependsOn[c.after].Condition; got != c.condition {
			t.Errorf("%s waits for %s: %q, want %q", c.service, c.after, got, c.condition)
		}
	}
}

// TestComposeIsLocalAndPinned checks that ports are on loopback, images have a version, containers that others wait for
// have a health check, and mounts exist.
func TestComposeIsLocalAndPinned(t *testing.T) {
	p := project(t, "flights")
	pinned := regexp.MustCompile(`:v?[0-9]+\.[0-9]+\.[0-9]+$`)
	for _, service := range p.Services {
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %d is published on %q, not on loopback", service.Name, port.Target, port.HostIP)
			}
		}
		if service.Build == nil && !pinned.MatchString(service.Image) {
			t.Errorf("%s: image %s has no full version", service.Name, service.Image)
		}
		for after, dependency := range service.DependsOn {
			if dependency.Condition == types.ServiceConditionHealthy && p.Services[after].HealthCheck == nil {
				t.Errorf("%s waits for the health of %s, which has no check", service.Name, after)
			}
		}
		for _, volume := range service.Volumes {
			if volume.Type != types.VolumeTypeBind {
				continue
			}
			if _, err := os.Stat(volume.Source); err != nil {
				t.Errorf("%s: mounts %s, which is not there", service.Name, volume.Source)
			}
		}
	}
}

// TestTheImageKnowsItsVersion checks that the linker sets the command's version from a build argument, because the
// build context has no git.
func TestTheImageKnowsItsVersion(t *testing.T) {
	dockerfile := read(t, "Dockerfile")
	given := regexp.MustCompile(`-X main\.([a-z]+)=\$\{VERSION\}`).FindStringSubmatch(dockerfile)
	if given == nil || !strings.Contains(dockerfile, "\nARG VERSION=") {
		t.Fatal("the build is not given a version")
	}
	if source := read(t, "../cmd/oriel/main.go"); !strings.Contains(source, "\nvar "+given[1]+" string\n") {
		t.Errorf("the linker sets main.%s, which is no variable without a value", given[1])
	}
	if args := project(t, "flights").Services["oriel"].Build.Args; args["VERSION"] == nil {
		t.Error("compose.yaml does not pass a version on")
	}
}

// TestDockerfileMatchesModule checks that the builder has exactly the Go version of go.mod, and that the last stage is
// static and does not run as root.
func TestDockerfileMatchesModule(t *testing.T) {
	module := read(t, "../go.mod")
	version := regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(module)
	if version == nil {
		t.Fatal("go.mod names no Go version")
	}
	dockerfile := read(t, "Dockerfile")
	if want := "FROM golang:" + version[1] + " AS build"; !strings.Contains(dockerfile, want) {
		t.Errorf("Dockerfile lacks %q", want)
	}
	stages := strings.Split(dockerfile, "\nFROM ")
	last := stages[len(stages)-1]
	for _, want := range []string{
		"gcr.io/distroless/static:nonroot\n", "\nUSER " + nonroot + ":" + nonroot + "\n",
		"\nENTRYPOINT [\"/usr/local/bin/oriel\"]\n",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("the last stage lacks %q", want)
		}
	}
	for _, want := range []string{"CGO_ENABLED=0", "-trimpath"} {
		if !strings.Contains(dockerfile, want) {
			t.Errorf("Dockerfile lacks %s", want)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
