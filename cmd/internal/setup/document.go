package setup

import (
	"encoding/json"
	"fmt"
	"strings"

	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// Document returns the text of a mapping, with items as features or as members. where and label are as the user gave
// them.
func Document(where, label string, features, members []Item) []byte {
	var parts []string
	if where != "" {
		parts = append(parts, `  "where": `+quote(where))
	}
	if label != "" {
		parts = append(parts, `  "label": `+quote(label))
	}
	list := func(name string, items []Item, text func(Item) string) {
		if len(items) == 0 {
			return
		}
		var lines []string
		for _, item := range items {
			lines = append(lines, "    "+text(item))
		}
		parts = append(parts, fmt.Sprintf("  %q: [\n%s\n  ]", name, strings.Join(lines, ",\n")))
	}
	list("features", features, Item.feature)
	list("members", members, Item.long)
	return []byte("{\n" + strings.Join(parts, ",\n") + "\n}\n")
}

// feature returns the item as JSON, in the short form if its path describes it fully.
func (i Item) feature() string {
	text := i.Path.String()
	switch {
	case strings.ContainsAny(text, `:=<>!,"`) || i.Epoch != "" || i.As != "" && i.As != "number":
		return i.long()
	case i.Name != i.Path[len(i.Path)-1]:
		text = i.Name + "=" + text
	}
	if i.As != "" {
		text += ":" + i.As
	}
	return quote(text)
}

func (i Item) long() string {
	text := `{"name": ` + quote(i.Name) + `, "from": ` + quote(i.Path.String())
	if i.As != "" {
		text += `, "as": ` + quote(i.As)
	}
	if i.Epoch != "" {
		text += `, "epoch": ` + quote(i.Epoch)
	}
	return text + "}"
}

func quote(s string) string { return string(text.AppendString(nil, s)) }

// Used returns the paths that a label and a filter read.
func Used(where, label string) ([]mapping.Path, error) {
	document := map[string]string{}
	for name, text := range map[string]string{"where": where, "label": label} {
		if text != "" {
			document[name] = text
		}
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	m, err := mapping.Parse(text)
	if err != nil {
		return nil, err
	}
	var used []mapping.Path
	for _, c := range m.Where {
		used = append(used, c.Path)
	}
	if m.Label != nil {
		used = append(used, m.Label.From...)
		if m.Label.Compare != nil {
			used = append(used, m.Label.Compare.Path)
		}
	}
	return used, nil
}
