package settings

import (
	"fmt"
	"strings"
)

// settingsTable is the settings table in Markdown, as deploy/SETTINGS.md holds it.
func settingsTable() string { return markdown(Groups()) }

// cell is a text within a table's cell, which a bar would end.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func markdown(groups []Group) string {
	var b strings.Builder
	for _, g := range groups {
		if title := g.Title(); title != "" {
			fmt.Fprintf(&b, "\n**%s**\n\n", title)
		}
		b.WriteString("| setting | unit | range | default | meaning |\n|---|---|---|---|---|\n")
		for _, v := range g.Variables {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", v.Name, cell(v.Unit), cell(v.Range), cell(v.Initial()), cell(v.Text))
		}
	}
	return b.String()
}
