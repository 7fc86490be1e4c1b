package test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files and the plain manifest anew")

// manifest is the plain manifest: the chart rendered with default values, below the text plainHead.
const (
	manifest  = "../../kubernetes.yaml"
	plainHead = `# A deployment of Oriel without Helm: the chart's default values, rendered. Make what it reads first, from what
# oriel init wrote (the paths of files that settings name must be those below /etc/oriel):
#
#   kubectl create configmap oriel --from-file=oriel.env --from-file=mapping.json
#   kubectl create secret generic oriel --from-file=master.key
#   kubectl apply -f deploy/kubernetes.yaml
#
# go test -C deploy/chart/test ./... -rewrite writes this file.
`
)

// kinds maps each kind that the chart may render to a value of its type in the API.
var kinds = map[string]func() any{
	"v1/ConfigMap":                            func() any { return new(core.ConfigMap) },
	"v1/Service":                              func() any { return new(core.Service) },
	"v1/ServiceAccount":                       func() any { return new(core.ServiceAccount) },
	"apps/v1/Deployment":                      func() any { return new(apps.Deployment) },
	"apps/v1/StatefulSet":                     func() any { return new(apps.StatefulSet) },
	"autoscaling/v2/HorizontalPodAutoscaler":  func() any { return new(autoscaling.HorizontalPodAutoscaler) },
	"networking.k8s.io/v1/NetworkPolicy":      func() any { return new(networking.NetworkPolicy) },
	"policy/v1/PodDisruptionBudget":           func() any { return new(policy.PodDisruptionBudget) },
	"monitoring.coreos.com/v1/ServiceMonitor": func() any { return new(monitoring.ServiceMonitor) },
	"monitoring.coreos.com/v1/PrometheusRule": func() any { return new(monitoring.PrometheusRule) },
}

// releases has the release of each golden deployment.
var releases = map[string]string{"orders": "orders", "partitions": "delays"}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load("..")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// values reads values from a file of testdata. Without a name it returns none.
func values(t *testing.T, name string) map[string]any {
	t.Helper()
	if name == "" {
		return map[string]any{}
	}
	v, err := chartutil.ReadValuesFile(filepath.Join("testdata", name+".values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// render returns the output of `helm template`: all documents, in the order of their templates' names.
func render(t *testing.T, release string, v map[string]any) (string, error) {
	t.Helper()
	c := load(t)
	options := chartutil.ReleaseOptions{Name: release, Namespace: "streams"}
	all, err := chartutil.ToRenderValues(c, v, options, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if text := strings.TrimSpace(files[name]); text != "" && strings.HasSuffix(name, ".yaml") {
			fmt.Fprintf(&out, "---\n%s\n", strings.TrimPrefix(text, "---\n"))
		}
	}
	return out.String(), nil
}

// decode decodes each document strictly: an unknown member, or a repeated one, is an error.
func decode(t *testing.T, text string) map[string][]any {
	t.Helper()
	objects := map[string][]any{}
	for _, document := range strings.Split(text, "\n---\n") {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		kind := head.APIVersion + "/" + head.Kind
		empty, known := kinds[kind]
		if !known {
			t.Fatalf("unknown kind %s", kind)
		}
		object := empty()
		if err := yaml.UnmarshalStrict([]byte(document), object); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		objects[head.Kind] = append(objects[head.Kind], object)
	}
	return objects
}

// one returns the only object of a kind.
func one[T any](t *testing.T, objects map[string][]any, kind string) T {
	t.Helper()
	if len(objects[kind]) != 1 {
		t.Fatalf("%d objects of kind %s, want 1", len(objects[kind]), kind)
	}
	return objects[kind][0].(T)
}

// compare compares text with a file, or writes the file with -rewrite.
func compare(t *testing.T, file, text string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(text)) {
		t.Errorf("%s differs from what the chart renders: go test -C deploy/chart/test ./... -rewrite, and look at the difference", file)
	}
}

func TestChartRendersWhatTheAPITakes(t *testing.T) {
	for name, release := range releases {
		t.Run(name, func(t *testing.T) {
			text, err := render(t, release, values(t, name))
			if err != nil {
				t.Fatal(err)
			}
			decode(t, text)
			compare(t, filepath.Join("testdata", name+".golden.yaml"), text)
		})
	}
	t.Run("default", func(t *testing.T) {
		text, err := render(t, "oriel", values(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, "managed-by: Helm", "managed-by: kubectl")
		decode(t, text)
		compare(t, manifest, plainHead+text)
	})
}

// TestEveryPodIsConfined checks that other users cannot read a key, which Oriel would refuse. The root file system must
// be read-only, and a pod must have no rights in the cluster.
func TestEveryPodIsConfined(t *testing.T) {
	text, err := render(t, "orders", values(t, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	objects := decode(t, text)
	pods := pods(objects)
	if len(pods) != 3 {
		t.Fatalf("%d kinds of pods, want run, letters and order", len(pods))
	}
	secrets := map[string]bool{}
	for name, pod := range pods {
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("%s: has a token of the cluster", name)
		}
		s := pod.SecurityContext
		if s == nil || *s.RunAsUser != 65532 || !*s.RunAsNonRoot || *s.FSGroup != 65532 ||
			s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: security context %+v", name, s)
		}
		for _, c := range append(slices.Clone(pod.InitContainers), pod.Containers...) {
			s := c.SecurityContext
			if s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem ||
				!slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
				t.Errorf("%s, container %s: security context %+v", name, c.Name, s)
			}
			if c.Resources.Limits.Memory().Cmp(resource.MustParse("256Mi")) < 0 {
				t.Errorf("%s, container %s: less memory than a process needs", name, c.Name)
			}
		}
		for _, v := range pod.Volumes {
			if v.Secret != nil {
				if *v.Secret.DefaultMode != 0o440 {
					t.Errorf("%s: the Secret's files have mode %o", name, *v.Secret.DefaultMode)
				}
				if secrets[v.Secret.SecretName] {
					t.Errorf("%s: shares the Secret %s", name, v.Secret.SecretName)
				}
				secrets[v.Secret.SecretName] = true
			}
		}
	}
}

// TestAPlatformMayChooseTheUser renders the chart as for OpenShift, which gives pods a user and a group of its own, and
// refuses pods that ask for another one. Everything else stays confined.
func TestAPlatformMayChooseTheUser(t *testing.T) {
	v := values(t, "orders")
	v["podSecurityContext"] = map[string]any{"runAsUser": nil, "runAsGroup": nil, "fsGroup": nil}
	text, err := render(t, "orders", v)
	if err != nil {
		t.Fatal(err)
	}
	for name, pod := range pods(decode(t, text)) {
		s := pod.SecurityContext
		if s.RunAsUser != nil || s.RunAsGroup != nil || s.FSGroup != nil {
			t.Errorf("%s: asks for a user or a group: %+v", name, s)
		}
		if !*s.RunAsNonRoot || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: security context %+v", name, s)
		}
	}
}

// TestPodsFitACluster checks what clusters ask of pods and their names: secrets to pull the image with, a priority, and
// annotations.
func TestPodsFitACluster(t *testing.T) {
	text, err := render(t, "orders", values(t, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	objects := decode(t, text)
	for name, pod := range pods(objects) {
		if !slices.Equal(pod.ImagePullSecrets, []core.LocalObjectReference{{Name: "registry"}}) ||
			pod.PriorityClassName != "streams" {
			t.Errorf("%s: pull secrets %v, priority %q", name, pod.ImagePullSecrets, pod.PriorityClassName)
		}
	}
	set := one[*apps.StatefulSet](t, objects, "StatefulSet")
	for what, annotations := range map[string]map[string]string{
		"pod": set.Spec.Template.Annotations, "Service": one[*core.Service](t, objects, "Service").Annotations,
		"ServiceAccount": one[*core.ServiceAccount](t, objects, "ServiceAccount").Annotations,
	} {
		if annotations["example.com/owner"] != "fraud" {
			t.Errorf("%s has the annotations %v", what, annotations)
		}
	}
}

// pods returns the pods of all components by the name of their object.
func pods(objects map[string][]any) map[string]core.PodSpec {
	all := map[string]core.PodSpec{}
	for _, o := range objects["StatefulSet"] {
		set := o.(*apps.StatefulSet)
		all[set.Name] = set.Spec.Template.Spec
	}
	for _, o := range objects["Deployment"] {
		d := o.(*apps.Deployment)
		all[d.Name] = d.Spec.Template.Spec
	}
	return all
}

// TestSelectorsMeetTheirPods checks that the selectors of Service, PodDisruptionBudget and StatefulSet match the pods
// of `oriel run` and no other pods.
func TestSelectorsMeetTheirPods(t *testing.T) {
	text, err := render(t, "orders", values(t, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	objects := decode(t, text)
	set := one[*apps.StatefulSet](t, objects, "StatefulSet")
	service := one[*core.Service](t, objects, "Service")
	budget := one[*policy.PodDisruptionBudget](t, objects, "PodDisruptionBudget")
	monitor := one[*monitoring.ServiceMonitor](t, objects, "ServiceMonitor")
	labels := set.Spec.Template.Labels
	for what, selector := range map[string]map[string]string{
		"StatefulSet": set.Spec.Selector.MatchLabels, "Service": service.Spec.Selector,
		"PodDisruptionBudget": budget.Spec.Selector.MatchLabels,
	} {
		if !within(selector, labels) {
			t.Errorf("%s selects %v, pods have %v", what, selector, labels)
		}
		for _, d := range objects["Deployment"] {
			if other := d.(*apps.Deployment); within(selector, other.Spec.Template.Labels) {
				t.Errorf("%s selects the pods of %s", what, other.Name)
			}
		}
	}
	if !within(monitor.Spec.Selector.MatchLabels, service.Labels) {
		t.Errorf("ServiceMonitor selects %v, the Service has %v", monitor.Spec.Selector.MatchLabels, service.Labels)
	}
	if set.Spec.ServiceName != service.Name {
		t.Errorf("serviceName %s, Service %s", set.Spec.ServiceName, service.Name)
	}
}

func within(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

// TestNothingScalesDown checks that only a person reduces the number of processes, because streams move whenever a
// process starts or stops.
func TestNothingScalesDown(t *testing.T) {
	text, err := render(t, releases["partitions"], values(t, "partitions"))
	if err != nil {
		t.Fatal(err)
	}
	scaler := one[*autoscaling.HorizontalPodAutoscaler](t, decode(t, text), "HorizontalPodAutoscaler")
	if p := scaler.Spec.Behavior.ScaleDown.SelectPolicy; p == nil || *p != autoscaling.DisabledPolicySelect {
		t.Error("the autoscaler may end processes")
	}
	for _, m := range scaler.Spec.Metrics {
		if m.Type != autoscaling.PodsMetricSourceType || m.Pods.Metric.Name != "oriel_input_lag_records" {
			t.Errorf("the autoscaler looks at %s, which may depend on what events say", m.Type)
		}
	}
}

func TestWrongValuesAreRefused(t *testing.T) {
	tests := []struct{ name, values, want string }{
		{"an unknown value", "replica: 3", "replica"},
		{"a process beyond the partitions", "{replicas: 5, inputPartitions: 4}", "inputPartitions is 4"},
		{"an autoscaler of one stream", "{autoscaling: {enabled: true, maxReplicas: 4}}", "needs inputPartitions"},
		{"an autoscaler beyond the partitions", "{inputPartitions: 4, autoscaling: {enabled: true, maxReplicas: 5}}", "at most inputPartitions"},
		{"nobody who writes the order", `{envFile: "ORIEL_SEQUENCER=other\n"}`, "order.enabled"},
		{"nobody who writes the order, by env", "{env: {ORIEL_SEQUENCER: other}}", "order.enabled"},
		{"an order that nobody asked for", "{order: {enabled: true}}", "ORIEL_SEQUENCER=other"},
		{"an order that nobody asked for, with settings", `{order: {enabled: true}, envFile: "ORIEL_NAME=oriel\n# ORIEL_SEQUENCER=other\n"}`, "ORIEL_SEQUENCER=other"},
		{"an order that env turns off", `{order: {enabled: true}, env: {ORIEL_SEQUENCER: service}, envFile: "ORIEL_SEQUENCER=other\n"}`, "ORIEL_SEQUENCER=other"},
		{"a quoted order that nobody writes", `{envFile: "ORIEL_SEQUENCER='other' # by oriel order\n"}`, "order.enabled"},
		{"another name", `{envFile: "ORIEL_BROKERS=k:9092\nORIEL_NAME=orders\n"}`, "ORIEL_NAME is orders"},
		{"another name, quoted", `{envFile: "  ORIEL_NAME=\"orders\"\r\n"}`, "ORIEL_NAME is orders"},
		{"another name, by env", `{env: {ORIEL_NAME: orders}, envFile: "ORIEL_NAME=oriel\n"}`, "ORIEL_NAME is orders"},
		{"another name of letters", "{letters: {env: {ORIEL_NAME: orders}}}", "ORIEL_NAME is orders"},
		{"a root user", "{podSecurityContext: {runAsNonRoot: false}}", "runAsNonRoot"},
		{"the user root", "{podSecurityContext: {runAsUser: 0}}", "runAsUser"},
		{"a process that may become root", "{securityContext: {allowPrivilegeEscalation: true}}", "allowPrivilegeEscalation"},
		{"a root file system that is written", "{securityContext: {readOnlyRootFilesystem: null}}", "readOnlyRootFilesystem"},
		{"capabilities", "{securityContext: {capabilities: {drop: []}}}", "drop"},
		{"more capabilities", "{securityContext: {capabilities: {add: [NET_RAW]}}}", "add"},
		{"a pull secret without name", "{imagePullSecrets: [registry]}", "imagePullSecrets"},
		{"files of no ConfigMap", "{files: {mapping.json: '{}'}}", "files needs envFile"},
		{"a setting of something else", "{env: {KAFKA_BROKERS: kafka:9092}}", "KAFKA_BROKERS"},
		{"a number as a setting", "{env: {ORIEL_BATCH: 64}}", "ORIEL_BATCH"},
		{"no image", "{image: {repository: ''}}", "repository"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := chartutil.ReadValues([]byte(tt.values))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := render(t, "oriel", v); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want an error that names %s", err, tt.want)
			}
		})
	}
}

// TestOrielTakesTheSettings checks that `oriel config` accepts the settings of each golden deployment, as its container
// gets them.
func TestOrielTakesTheSettings(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "oriel")
	build := exec.Command("go", "build", "-o", binary, "./cmd/oriel")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, release := range releases {
		t.Run(name, func(t *testing.T) {
			text, err := render(t, release, values(t, name))
			if err != nil {
				t.Fatal(err)
			}
			objects := decode(t, text)
			folder := t.TempDir()
			for file, content := range one[*core.ConfigMap](t, objects, "ConfigMap").Data {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			container := one[*apps.StatefulSet](t, objects, "StatefulSet").Spec.Template.Spec.Containers[0]
			run := exec.Command(binary, "--env-file", filepath.Join(folder, "oriel.env"), "config")
			for _, e := range container.Env {
				run.Env = append(run.Env, e.Name+"="+strings.ReplaceAll(e.Value, "/etc/oriel", folder))
			}
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestRulesAreThoseOfPrometheus checks that the chart contains the same rules as the files of deploy/prometheus. Its
// rules.yml is a symbolic link, which Helm follows when it loads or packs the chart.
func TestRulesAreThoseOfPrometheus(t *testing.T) {
	want, err := os.ReadFile("../../prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range load(t).Files {
		if f.Name == "rules.yml" {
			if !bytes.Equal(f.Data, want) {
				t.Error("rules.yml of the chart is not that of deploy/prometheus")
			}
			return
		}
	}
	t.Error("the chart has no rules.yml")
}
