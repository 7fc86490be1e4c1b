package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/setting"
)

// callable are the flags that cobra requires before a command runs.
var callable = map[string][]string{
	"tail": {"--topic", "t"}, "numbers": {"--topic", "t"}, "eval": {"--ndjson", "f"},
	"key": {"--out", "f"}, "map": {"--sample", "f"}, "schema": {"decisions"},
	"replay": {"--events", "f"}, "end": {"n"},
}

// anyText are the settings that may have any text: names of files, users and groups, and commands.
var anyText = strings.Fields(`TLS_CA_FILE TLS_CERT_FILE TLS_KEY_FILE SASL_USER SASL_PASSWORD_FILE OAUTH_CLIENT_ID
	OAUTH_CLIENT_SECRET_FILE OAUTH_SCOPE OAUTH_CA_FILE OAUTH_TOKEN_FILE MASTER_KEY_FILE MASTER_KEY_COMMAND GROUP
	LETTERS_GROUP START START_POINT STATE_DIR SCHEMA_FILE SCHEMA_MESSAGE SCHEMA_SUBJECT SCHEMA_REGISTRY_USER
	SCHEMA_REGISTRY_PASSWORD_FILE SCHEMA_REGISTRY_CA_FILE EDGES VERTICES PLACES TYPES ARM_FEATURES`)

// TestEveryCommandRefusesEveryInvalidSetting sets each row of the table of settings to a value that is not one of its
// values, and calls each command. The command must refuse it with exit code 2 and the name of the setting, also if the
// command does not use the setting: `oriel plan` took ORIEL_STREAM=nonsense in silence.
func TestEveryCommandRefusesEveryInvalidSetting(t *testing.T) {
	commands, row := leaves(root(), nil), 0
	if len(commands) < 22 {
		t.Fatalf("commands: %q", commands)
	}
	for _, g := range settings.Groups() {
		for _, v := range g.Settings {
			v.Name = setting.Prefix + v.Name
			value := ""
			for _, candidate := range []string{"nonsense", "no name!", ",", "{", "."} {
				if _, err := settings.Load(environOf(g, v, candidate)); err != nil && value == "" {
					value = candidate
				}
			}
			if free := slices.Contains(anyText, strings.TrimPrefix(v.Name, "ORIEL_")); free != (value == "") {
				t.Errorf("%s: %q is refused by a command that does not use it; any text is valid: %t", v.Name, value, free)
			}
			for _, path := range commands {
				if row++; value == "" || row%tiertest.Runs(7, 1) != 0 { // each row and each command has its turn
					continue
				}
				if code, said := calls(environOf(g, v, value), path...); code != 2 || !strings.Contains(said, v.Name+": ") {
					t.Errorf("%s=%s, oriel %v: exit code %d: %.300s", v.Name, value, path, code, said)
				}
			}
		}
	}
	for _, path := range commands {
		code, said := calls([]string{"ORIEL_STREEM=topic"}, path...)
		if code != 2 || !strings.Contains(said, "ORIEL_STREEM: no such setting") {
			t.Errorf("oriel %v: exit code %d: %.300s", path, code, said)
		}
	}
}

// environOf returns an environment that sets one setting, and the operator that has it.
func environOf(g settings.Group, v setting.Row, value string) []string {
	environ := []string{v.Name + "=" + value}
	if g.Operator != "" {
		environ = append(environ, "ORIEL_OPERATOR="+g.Operator)
	}
	return environ
}

// leaves returns the command lines of all commands that use settings.
func leaves(cmd *cobra.Command, path []string) (all [][]string) {
	for _, c := range cmd.Commands() {
		below := append(slices.Clone(path), c.Name())
		if c.RunE != nil && c.Name() != "experiment" && !slices.Contains(needNoSettings, c.Name()) { // experiment prints help
			all = append(all, append(slices.Clone(below), callable[c.Name()]...))
		}
		all = append(all, leaves(c, below)...)
	}
	return all
}

// calls runs a command in this process, and returns its exit code and what it writes.
func calls(environ []string, args ...string) (code int, said string) {
	var b strings.Builder
	cmd := root()
	cmd.SetArgs(args)
	cmd.SetOut(&b)
	cmd.SetErr(&b)
	cmd.SetIn(strings.NewReader(""))
	return program.Execute(program.WithEnviron(context.Background(), environ), cmd), b.String()
}

// TestFlagsReadNumbersAsSettingsDo sets each flag of each command that has a number or a length of time to texts that
// are none. pflag's own flags took NaN and 0x10, and read 010 as 8.
func TestFlagsReadNumbersAsSettingsDo(t *testing.T) {
	seen := map[string]int{}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			check(c)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			switch kind := f.Value.Type(); kind {
			case "bool", "string", "stringSlice", "stringArray", "steps,…":
				return
			default:
				seen[kind]++
			}
			for _, text := range []string{
				"nan", "inf", "-Inf", "1e400", "0x10", "1_0", "", " ", strings.Repeat("9", 400), "one", "-7",
			} {
				signed := text == "-7" && strings.HasPrefix(f.Value.Type(), "float")
				if err := f.Value.Set(text); err == nil && !signed {
					t.Errorf("%s --%s=%.20s is read as %s", cmd.CommandPath(), f.Name, text, f.Value)
				}
			}
			if err := f.Value.Set("010"); err == nil && f.Value.String() != "10" && f.Value.String() != "" {
				t.Errorf("%s --%s=010 is read as %s", cmd.CommandPath(), f.Name, f.Value)
			}
		})
	}
	check(root())
	for _, kind := range []string{"float64", "float64Slice", "uint64", "int", "int32", "duration", "uintSlice"} {
		if seen[kind] == 0 {
			t.Errorf("no flag of kind %s: %v", kind, seen)
		}
	}
}
