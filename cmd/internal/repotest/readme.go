package repotest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Tests run the commands in README.md and in the operators' pages, and compare the figures in these texts with the
// output.

// Path returns the path of a file of the module. It works in the folder of any package's test.
func Path(name string) string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, name)
		}
		above := filepath.Dir(dir)
		if above == dir {
			panic("no go.mod above the working directory")
		}
		dir = above
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(Path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// blocksOf returns the preformatted blocks of a text: commands and output.
func blocksOf(text string) (blocks []string) {
	for i, part := range strings.Split("\n"+text, "\n```") {
		if i%2 == 1 {
			_, body, _ := strings.Cut(part, "\n")
			blocks = append(blocks, body+"\n")
		}
	}
	return blocks
}

// Block returns the block of a file that contains a command.
func Block(t *testing.T, file, command string) string {
	t.Helper()
	for _, block := range blocksOf(read(t, file)) {
		if strings.Contains(block, command) {
			return block
		}
	}
	t.Fatalf("%s has no %s", file, command)
	return ""
}

// Operator returns the section on real flights of an operator's page, and the section's block of commands.
func Operator(t *testing.T, operator string) (text, commands string) {
	t.Helper()
	_, text, found := strings.Cut(read(t, "operators/"+operator+"/README.md"), "\n## On real flights\n")
	section, _, _ := strings.Cut(text, "\n## ")
	blocks := blocksOf(section)
	if !found || len(blocks) != 1 {
		t.Fatalf("operators/%s/README.md has no section *On real flights* with one block of commands", operator)
	}
	return text, blocks[0]
}

// SettingsIn returns the settings in commands, as a shell reads them.
func SettingsIn(commands string) map[string]string {
	env := map[string]string{}
	for _, set := range regexp.MustCompile(`(ORIEL_\w+)=('[^']*'|\S+)`).FindAllStringSubmatch(commands, -1) {
		env[set[1]] = strings.Trim(set[2], "'")
	}
	return env
}

// OnOneLine joins all lines of a text, so that tests can search for phrases across line breaks.
func OnOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
