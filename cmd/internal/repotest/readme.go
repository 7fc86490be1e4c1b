package repotest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Tests run what README.md shows and hold its figures to what comes out.

// Path is that of a file of the module, whichever package's folder a test runs in.
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

func readme(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(Path("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// blocksOf are the blocks of commands and of output of a text.
func blocksOf(text string) (blocks []string) {
	for i, part := range strings.Split("\n"+text, "\n```") {
		if i%2 == 1 {
			_, body, _ := strings.Cut(part, "\n")
			blocks = append(blocks, body+"\n")
		}
	}
	return blocks
}

// Block returns the block that has a command.
func Block(t *testing.T, command string) string {
	t.Helper()
	for _, block := range blocksOf(readme(t)) {
		if strings.Contains(block, command) {
			return block
		}
	}
	t.Fatalf("README.md has no %s", command)
	return ""
}

// Operator returns the section of an operator and its block of commands.
func Operator(t *testing.T, operator string) (text, commands string) {
	t.Helper()
	_, text, found := strings.Cut(readme(t), "\n### "+operator+": ")
	text, _, _ = strings.Cut(text, "\n##")
	blocks := blocksOf(text)
	if !found || len(blocks) != 1 {
		t.Fatalf("README.md has no section of %s with one block of commands", operator)
	}
	return text, blocks[0]
}

// SettingsIn are the settings that commands have, as a shell reads them.
func SettingsIn(commands string) map[string]string {
	env := map[string]string{}
	for _, set := range regexp.MustCompile(`(ORIEL_\w+)=('[^']*'|\S+)`).FindAllStringSubmatch(commands, -1) {
		env[set[1]] = strings.Trim(set[2], "'")
	}
	return env
}

// OnOneLine puts lines together, which may break anywhere.
func OnOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
