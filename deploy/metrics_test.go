package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v4"

	"oriel/mechanisms/protection"
	"oriel/pipeline/console"
	"oriel/pipeline/metrics"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
)

// exported maps the name of each metric that pipeline/metrics registers to its label names.
type exported map[string][]string

var (
	descParts   = regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{(.*)\}, variableLabels: \{([^}]*)\}`)
	constLabels = regexp.MustCompile(`([a-z_]+)="`)
)

// service adds the metrics that the service registers. It registers them once for an operator whose decisions are
// numbers and once for any other operator, because the two differ.
func (e exported) service() {
	for _, numbers := range []*metrics.Numbers{nil, {}} {
		metrics.New(e, protection.Guarantee{Terms: protection.Terms{Scope: protection.Window{Steps: 8}}}, metrics.Process{
			Deployment: "d", Coordinates: 1, Numbers: numbers, Registry: true, Step: 1,
			Waiting: console.New(notice.Operators).Waiting,
		})
	}
}

func (e exported) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc, 16)
	go func() { c.Describe(descs); close(descs) }()
	for desc := range descs {
		parts := descParts.FindStringSubmatch(desc.String())
		labels := strings.FieldsFunc(parts[3], func(r rune) bool { return r == ',' || r == ' ' })
		for _, label := range constLabels.FindAllStringSubmatch(parts[2], -1) {
			labels = append(labels, label[1])
		}
		e[parts[1]] = labels
	}
	return nil
}

func (e exported) MustRegister(collectors ...prometheus.Collector) {
	for _, c := range collectors {
		_ = e.Register(c) // never fails
	}
}

func (e exported) Unregister(prometheus.Collector) bool { return false }

// exportedMetrics returns the metrics of the service and Prometheus's own metric up. Histograms are also listed under
// the names of their samples.
func exportedMetrics() exported {
	e := exported{}
	e.service()
	for name, labels := range maps.Clone(e) {
		if strings.HasSuffix(name, "_seconds") {
			e[name+"_bucket"], e[name+"_sum"], e[name+"_count"] = append([]string{"le"}, labels...), labels, labels
		}
	}
	for name := range e {
		e[name] = append(e[name], "job", "instance")
	}
	e["up"] = []string{"job", "instance"}
	return e
}

// name is a rough grammar of the names in PromQL.
var (
	literals = regexp.MustCompile(`"[^"]*"|\$__rate_interval|\$__range|\[[^\]]*\]|\b[0-9][0-9a-z.e]*\b`)
	matchers = regexp.MustCompile(`([a-z_:]+)\s*\{([^}]*)\}`)
	groups   = regexp.MustCompile(`\b(by|without|on|ignoring)\s*\(([^)]*)\)`)
	words    = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*(\s*\()?`)
	keywords = []string{
		"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left",
		"group_right",
	}
)

// queryProblems returns the metrics of a query that are not exported, and the labels that no metric of the query has.
func queryProblems(e exported, query string) (problems []string) {
	rest := literals.ReplaceAllString(query, "")
	labels := map[string]string{} // by label: the metric whose selector has it, or "" if the label only groups
	for _, m := range matchers.FindAllStringSubmatch(rest, -1) {
		for _, matcher := range strings.Split(m[2], ",") {
			labels[strings.TrimRight(strings.TrimSpace(matcher), "=~! ")] = m[1]
		}
	}
	rest = matchers.ReplaceAllString(rest, "$1")
	for _, m := range groups.FindAllStringSubmatch(rest, -1) {
		for _, label := range strings.Split(m[2], ",") {
			labels[strings.TrimSpace(label)] = ""
		}
	}
	rest = groups.ReplaceAllString(rest, "")
	var used []string
	for _, word := range words.FindAllString(rest, -1) {
		if strings.HasSuffix(word, "(") || slices.Contains(keywords, word) {
			continue
		}
		if _, ok := e[word]; !ok {
			problems = append(problems, "metric "+word+" is not exported")
		}
		used = append(used, word)
	}
	if len(used) == 0 {
		problems = append(problems, "no metric found")
	}
	for label, metric := range labels {
		known := slices.ContainsFunc(used, func(name string) bool {
			return (metric == "" || metric == name) && slices.Contains(e[name], label)
		})
		if !known {
			problems = append(problems, "no metric here has the label "+label)
		}
	}
	return problems
}

// dashboard is the part of Grafana's format that the tests read.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Panels        []struct {
		ID          int
		Type, Title string
		Description string
		Datasource  struct{ Type, UID string }
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct{ Expr, RefID string }
	}
	Templating struct {
		List []struct {
			Name, Type, Definition string
			Query                  any
		}
	}
}

func loadDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal([]byte(read(t, "grafana/dashboards/oriel.json")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDashboardShowsExportedMetrics(t *testing.T) {
	d, e := loadDashboard(t), exportedMetrics()
	shown := ""
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			for _, problem := range queryProblems(e, target.Expr) {
				t.Errorf("%s: %s: %s", panel.Title, target.Expr, problem)
			}
			shown += target.Expr + "\n"
		}
	}
	for _, variable := range d.Templating.List {
		if variable.Type == "datasource" {
			continue
		}
		metric, label, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(variable.Definition, "label_values("), ")"),
			", ")
		metric, _, _ = strings.Cut(metric, "{")
		if !slices.Contains(e[metric], label) {
			t.Errorf("variable %s: %s has no label %q", variable.Name, metric, label)
		}
	}
	if every := strings.Count(shown, "oriel_"); strings.Count(shown, `{deployment="$deployment"`) != every {
		t.Errorf("%d metrics in queries, and not each of one deployment", every)
	}
	for name := range exportedOnly() {
		if !strings.Contains(shown, name) {
			t.Errorf("%s is exported but not shown", name)
		}
	}
}

// exportedOnly returns the metrics under the names that they are registered with.
func exportedOnly() exported {
	e := exported{}
	e.service()
	return e
}

func TestDashboardStructure(t *testing.T) {
	d := loadDashboard(t)
	if d.UID == "" || d.Title == "" || d.SchemaVersion == 0 || len(d.Panels) == 0 {
		t.Fatalf("not a dashboard: %+v", d)
	}
	var sources struct {
		Datasources []struct{ UID, Type, URL string }
	}
	unmarshalYAML(t, "grafana/provisioning/datasources/prometheus.yaml", &sources)
	source := d.Templating.List[0]
	if len(sources.Datasources) != 1 || source.Type != "datasource" || source.Query != sources.Datasources[0].Type {
		t.Errorf("the dashboard asks for a data source of type %v, and %+v are provisioned", source.Query, sources.Datasources)
	}
	type cell struct{ x, y int }
	taken, ids := map[cell]string{}, map[int]bool{}
	for _, panel := range d.Panels {
		if ids[panel.ID] {
			t.Errorf("%s: id %d is used twice", panel.Title, panel.ID)
		}
		ids[panel.ID] = true
		at := panel.GridPos
		if panel.Title == "" || at.X+at.W > 24 {
			t.Errorf("panel %d %q: no title, or wider than the grid", panel.ID, panel.Title)
		}
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other, ok := taken[cell{x, y}]; ok {
					t.Fatalf("%q lies over %q", panel.Title, other)
				}
				taken[cell{x, y}] = panel.Title
			}
		}
		if panel.Type == "row" {
			continue
		}
		if panel.Description == "" || len(panel.Targets) == 0 {
			t.Errorf("%q: no description, or no query", panel.Title)
		}
		if panel.Datasource.UID != "${"+source.Name+"}" {
			t.Errorf("%q: data source %s, want the variable %s", panel.Title, panel.Datasource.UID, source.Name)
		}
	}
}

type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Record, Expr string
			Labels, Annotations map[string]string
		}
	}
}

func TestRulesUseExportedMetrics(t *testing.T) {
	var rules ruleFile
	unmarshalYAML(t, "prometheus/rules.yml", &rules)
	e, played, runbook := exportedMetrics(), read(t, "alerts_test.go"), read(t, "RUNBOOK.md")
	count := 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			count++
			for _, problem := range queryProblems(e, rule.Expr) {
				t.Errorf("%s%s: %s: %s", rule.Alert, rule.Record, rule.Expr, problem)
			}
			if rule.Record != "" {
				if !strings.Contains(played, rule.Record) {
					t.Errorf("%s: alerts_test.go must ask for it", rule.Record)
				}
				continue
			}
			if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.Labels["severity"] == "" {
				t.Errorf("%s: needs a summary, a description of what to do, and a severity", rule.Alert)
			}
			if !strings.Contains(played, `"`+rule.Alert+`"`) {
				t.Errorf("%s: alerts_test.go must play it", rule.Alert)
			}
			if !strings.Contains(runbook, "### "+rule.Alert+"\n") {
				t.Errorf("%s: RUNBOOK.md must say what to do", rule.Alert)
			}
			file, anchor, _ := strings.Cut(rule.Annotations["runbook_url"], "#")
			if _, err := os.Stat("../" + file); err != nil || anchor != strings.ToLower(rule.Alert) ||
				!slices.Contains(anchors(runbook), anchor) {
				t.Errorf("%s: runbook_url %q leads nowhere: %v", rule.Alert, rule.Annotations["runbook_url"], err)
			}
			if !strings.Contains(rule.Annotations["summary"], "{{ $labels.deployment }}") {
				t.Errorf("%s: its summary names no deployment", rule.Alert)
			}
		}
	}
	if count == 0 {
		t.Error("no rules")
	}
}

// TestVoidOrderRecordsRaiseTheAlertWithTheLog checks that the alert and the log line come after the same time.
func TestVoidOrderRecordsRaiseTheAlertWithTheLog(t *testing.T) {
	want := fmt.Sprintf("(oriel_order_void_seconds) > %.0f\n", order.VoidFor.Seconds())
	if !strings.Contains(read(t, "prometheus/rules.yml"), want) {
		t.Errorf("no rule has %q", want)
	}
}

// anchors returns the anchors of a page's headings: each heading in lower case.
func anchors(text string) (all []string) {
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			all = append(all, strings.ToLower(strings.TrimSpace(heading)))
		}
	}
	return all
}

// TestCommentsOfRulesNameExistingFiles checks that each file and folder named in a comment of the rules exists.
func TestCommentsOfRulesNameExistingFiles(t *testing.T) {
	names := regexp.MustCompile(`[A-Za-z_./]+\.(go|md|yml)\b`)
	found := 0
	for line := range strings.Lines(read(t, "prometheus/rules.yml")) {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		for _, name := range names.FindAllString(comment, -1) {
			if found++; ok {
				if _, err := os.Stat("../" + name); err != nil {
					t.Errorf("%s: %v", comment, err)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no comment names a file")
	}
}

// scrape is the part of Prometheus's configuration that describes how it scrapes the service.
type scrape struct {
	JobName       string `yaml:"job_name"`
	HonorLabels   bool   `yaml:"honor_labels"`
	StaticConfigs []struct {
		Targets []string
		Labels  map[string]string
	} `yaml:"static_configs"`
}

func loadScrape(t *testing.T) scrape {
	t.Helper()
	var config struct {
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []scrape `yaml:"scrape_configs"`
	}
	unmarshalYAML(t, "prometheus/prometheus.yml", &config)
	if !slices.Equal(config.RuleFiles, []string{"rules.yml"}) || len(config.ScrapeConfigs) != 1 {
		t.Fatalf("unexpected configuration: %+v", config)
	}
	return config.ScrapeConfigs[0]
}

// TestPrometheusScrapesTheService compares the scrape targets with the compose file's services and the settings' port.
// Each target has the deployment as a label, which must not hide the label that a process exports itself.
func TestPrometheusScrapesTheService(t *testing.T) {
	config, p := loadScrape(t), project(t, "flights")
	if !config.HonorLabels || len(config.StaticConfigs) == 0 {
		t.Errorf("the label of a target must give way to the one of its process: %+v", config)
	}
	for _, static := range config.StaticConfigs {
		if name := p.Services["oriel"].Environment["ORIEL_NAME"]; name == nil || static.Labels["deployment"] != *name {
			t.Errorf("targets %v are labelled %q, which is not the deployment", static.Targets, static.Labels["deployment"])
		}
		for _, target := range static.Targets {
			host, port, _ := strings.Cut(target, ":")
			if len(p.Services[host].Ports) != 1 || p.Services[host].Ports[0].Published != port {
				t.Errorf("target %s: no service listens there", target)
			}
		}
	}
}

// TestQueryProblemsFindsFaults checks that queryProblems finds planted faults.
func TestQueryProblemsFindsFaults(t *testing.T) {
	e := exported{"oriel_a_total": {"partition"}, "up": {"job"}}
	for query, good := range map[string]bool{
		`sum by (partition) (rate(oriel_a_total{partition=~"$partition"}[5m])) > 2`: true,
		`up{job="oriel"} == 0 and on (job) up > bool 1e3`:                           true,
		`sum(rate(oriel_b_total[5m]))`:                                              false,
		`sum by (stream) (oriel_a_total)`:                                           false,
		`oriel_a_total{topic="x"}`:                                                  false,
		`vector(1)`:                                                                 false,
	} {
		if problems := queryProblems(e, query); (len(problems) == 0) != good {
			t.Errorf("%s: %q, accepted should be %t", query, problems, good)
		}
	}
}

func unmarshalYAML(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
