package settings

import (
	"fmt"
	"strings"
)

// settingsTable returns the settings table in Markdown, as in deploy/SETTINGS.md.
func settingsTable() string { return markdown(Groups()) }

// cell escapes bars, because a bar would end the cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func markdown(groups []Group) string {
	var b strings.Builder
	for _, g := range groups {
		if title := g.Title(); title != "" {
			fmt.Fprintf(&b, "\n**%s**\n\n", title)
		}
		b.WriteString("| setting | unit | range | default | meaning |\n|---|---|---|---|---|\n")
		for _, v := range g.Settings {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", prefix+v.Name, cell(v.Unit), cell(v.Limits()), cell(v.Initial()), cell(v.Text))
		}
	}
	return b.String()
}
