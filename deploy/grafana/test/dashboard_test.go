package test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

const file = "../dashboards/oriel.json"

// exported are the members that only an exported dashboard has: Grafana asks for the inputs, and drops all three.
type exported struct {
	Inputs []struct {
		Name, Label, Type, PluginID, PluginName string
	} `json:"__inputs"`
	Requires []struct{ Type, ID, Name, Version string } `json:"__requires"`
	Elements map[string]any                             `json:"__elements"`
}

// read returns the dashboard's members as they are stored, and those of its export.
func read(t *testing.T) (stored map[string]any, x exported) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &stored); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(stored, func(name string, _ any) bool { return strings.HasPrefix(name, "__") })
	return stored, x
}

// input is the place of an input's value in a text of an exported dashboard.
var input = regexp.MustCompile(`\$\{\w+\}`)

// imported does what an import does: it puts the values of the inputs in their places in every text, and leaves other
// places alone (DashTemplateEvaluator of Grafana's package dashboardimport).
func imported(value any, inputs map[string]string) any {
	switch v := value.(type) {
	case string:
		return input.ReplaceAllStringFunc(v, func(place string) string {
			if given, is := inputs[place]; is {
				return given
			}
			return place
		})
	case map[string]any:
		all := map[string]any{}
		for name, member := range v {
			all[name] = imported(member, inputs)
		}
		return all
	case []any:
		all := []any{}
		for _, member := range v {
			all = append(all, imported(member, inputs))
		}
		return all
	}
	return value
}

// parse reads a dashboard strictly, as Grafana's model has it: an unknown member, or a value of another type, is an
// error.
func parse(t *testing.T, value any) dashboard.Dashboard {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	plugins.RegisterDefaultPlugins()
	var d, strict dashboard.Dashboard // the library's strict parser checks panels, but does not return them
	for _, err := range []error{strict.UnmarshalJSONStrict(content), json.Unmarshal(content, &d), d.Validate()} {
		if err != nil && err.Error() != "" { // without a fault, the library returns an empty list of faults
			t.Fatal(err)
		}
	}
	return d
}

// sources calls each for the data source of every panel, query and variable, with its place.
func sources(d dashboard.Dashboard, each func(place string, source *common.DataSourceRef)) {
	for _, panel := range d.Panels {
		if panel.Panel == nil {
			continue
		}
		each(*panel.Panel.Title, panel.Panel.Datasource)
		for _, query := range panel.Panel.Targets {
			content, _ := json.Marshal(query)
			var q struct{ Datasource *common.DataSourceRef }
			_ = json.Unmarshal(content, &q)
			each("a query of "+*panel.Panel.Title, q.Datasource)
		}
	}
	for _, variable := range d.Templating.List {
		if variable.Type == dashboard.VariableTypeQuery {
			each("variable "+variable.Name, variable.Datasource)
		}
	}
}

// TestImportAsksForAPrometheus imports the dashboard into a Grafana whose Prometheus has any uid. The dashboard once
// named its data source by uid in 81 places, so an import into any other Grafana showed no data.
func TestImportAsksForAPrometheus(t *testing.T) {
	stored, x := read(t)
	if len(x.Inputs) != 1 || x.Inputs[0].Type != "datasource" || x.Inputs[0].PluginID != "prometheus" {
		t.Fatalf("inputs %+v, want one data source of type prometheus", x.Inputs)
	}
	inputs := map[string]string{"${" + x.Inputs[0].Name + "}": "chosen"}
	d := parse(t, imported(stored, inputs))
	variable := d.Templating.List[0] // first, because the others are queries of it
	if variable.Type != dashboard.VariableTypeDatasource || *variable.Query.String != "prometheus" {
		t.Fatalf("the first variable is %s, of type %s", variable.Name, variable.Type)
	}
	if *variable.Current.Value.String != "chosen" {
		t.Errorf("after the import the data source is %+v, want the chosen one", variable.Current)
	}
	n := 0
	sources(d, func(place string, source *common.DataSourceRef) {
		n++
		if source == nil || *source.Type != "prometheus" || *source.Uid != "${"+variable.Name+"}" {
			t.Errorf("%s: data source %+v, want the variable", place, source)
		}
	})
	if n < 80 {
		t.Errorf("%d data sources", n)
	}
	content, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(content), x.Inputs[0].Name) {
		t.Error("an input stays without its value")
	}
}

// TestProvisionedDashboardIsADashboard reads the file as provisioning does: without an import. The variable then has a
// value that no data source has, so Grafana takes the first Prometheus.
func TestProvisionedDashboardIsADashboard(t *testing.T) {
	stored, x := read(t)
	d := parse(t, stored)
	if *d.Uid != "oriel" {
		t.Errorf("uid %s", *d.Uid)
	}
	var panels []string
	for _, panel := range d.Panels {
		if panel.Panel != nil {
			panels = append(panels, panel.Panel.Type)
		}
	}
	slices.Sort(panels)
	want := slices.Compact(panels)
	var required []string
	for _, r := range x.Requires {
		if r.Type == "panel" {
			required = append(required, r.ID)
		}
	}
	if !slices.Equal(required, want) {
		t.Errorf("the export requires the panels %v, and has %v", required, want)
	}
	if len(x.Elements) > 0 {
		t.Errorf("elements %v", x.Elements)
	}
}
