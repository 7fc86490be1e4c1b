package notice_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"oriel/pipeline/notice"
)

// heard returns a listener that counts the calls of each function, with their arguments.
func heard(calls map[string][]reflect.Value) (l notice.Listener) {
	functions := reflect.ValueOf(&l).Elem()
	for i := range functions.NumField() {
		name := functions.Type().Field(i).Name
		functions.Field(i).Set(reflect.MakeFunc(functions.Field(i).Type(), func(arguments []reflect.Value) []reflect.Value {
			calls[name] = arguments
			return nil
		}))
	}
	return l
}

// TestEachFunctionHasItsAudience calls each function once. Readers must hear of the listed functions alone, so that who
// adds one must decide for whom it is.
func TestEachFunctionHasItsAudience(t *testing.T) {
	public := map[string]bool{}
	for _, name := range []string{
		"Assigned", "Unassigned", "Committed", "Decided", "State", "Proves", "Opening", "Opened", "Closed", "Standby",
		"Restarted", "Stopped", "Note", "Members", "Doubted", "Partitions", "Ended",
	} {
		public[name] = true
	}
	for _, a := range []notice.Audience{notice.Readers, notice.Operators, ""} {
		calls := map[string][]reflect.Value{}
		functions := reflect.ValueOf(a.Limit(heard(calls)))
		for i := range functions.NumField() {
			name, f := functions.Type().Field(i).Name, functions.Field(i)
			arguments := make([]reflect.Value, f.Type().NumIn())
			for k := range arguments {
				arguments[k] = reflect.Zero(f.Type().In(k))
			}
			if name == "Committed" {
				arguments[0] = reflect.ValueOf(notice.Commit{Steps: 1})
			}
			if name == "Note" {
				arguments[1] = reflect.ValueOf("text")
			}
			f.Call(arguments)
			if is, want := calls[name] != nil, public[name] || a == notice.Operators; is != want {
				t.Errorf("%q hear of %s: %t, want %t", a, name, is, want)
			}
		}
	}
}

// TestReadersLearnNothingOfRecords checks what readers hear of a commit, of an opening and of errors.
func TestReadersLearnNothingOfRecords(t *testing.T) {
	var commits []notice.Commit
	from, notes := int64(0), []string(nil)
	var failed error
	l := notice.Readers.Limit(notice.Listener{
		Committed: func(c notice.Commit) { commits = append(commits, c) },
		Opening:   func(_ int32, at int64) { from = at },
		Restarted: func(_ int32, err error) { failed = err }, Stopped: func(_ int32, err error) { failed = err },
		Doubted: func(err error) { failed = err },
		Note:    func(_ int32, text, detail string) { notes = append(notes, text+detail) },
	})
	whole := notice.Commit{
		Partition: 1, Records: 2, Steps: 3, Decisions: 4, Time: time.UnixMilli(5), Lag: 6, Duration: 7,
	}
	saving := whole
	saving.Steps, saving.Decisions = 0, 0
	l.Committed(whole)
	l.Committed(saving)
	want := notice.Commit{Partition: 1, Steps: 3, Decisions: 4, Time: time.UnixMilli(5)}
	if len(commits) != 1 || commits[0] != want {
		t.Errorf("commits %+v, want %+v", commits, want)
	}
	if l.Opening(0, 77); from != notice.Hidden {
		t.Errorf("opened at %d", from)
	}
	for name, tell := range map[string]func(error){
		"a restart": func(err error) { l.Restarted(0, err) },
		"a stop":    func(err error) { l.Stopped(0, err) },
		"a doubt":   l.Doubted,
	} {
		cause := &notice.StopError{Reason: "a record at offset 7 is lost"}
		tell(fmt.Errorf("partition 3: %w", cause))
		if !errors.Is(failed, cause) || failed.Error() != notice.Readers.Error(io.EOF).Error() {
			t.Errorf("readers hear of %s: %v", name, failed)
		}
		cause.Public = true
		if tell(cause); failed.Error() != cause.Error() {
			t.Errorf("readers do not hear of %s that is public: %v", name, failed)
		}
		if tell(nil); failed != nil {
			t.Errorf("%s without an error: %v", name, failed)
		}
	}
	if err := notice.Operators.Error(io.EOF); !errors.Is(err, io.EOF) || err.Error() != io.EOF.Error() {
		t.Errorf("operators hear %v", err)
	}
	l.Note(0, "repaired", " at offset 7")
	l.Note(0, "", "no verdicts of offset 7")
	if !slices.Equal(notes, []string{"repaired"}) {
		t.Errorf("notes %q", notes)
	}
}

// TestReadersHearOfNoPartition checks of which failing requests an audience hears.
func TestReadersHearOfNoPartition(t *testing.T) {
	for operation, public := range map[string]bool{
		"fetch": false, "fetch trips/3": false, "bounds of trips/3": false, "bounds of topic trips": false,
		"epochs of topic trips": false, "ends of trips": false, "end of epoch of trips/3": false, "describe topics": true,
		"end producer oriel/0": true, "append to oriel-decisions/0": true, "join group oriel": true,
	} {
		if got := notice.Readers.HearsOf(operation); got != public || !notice.Operators.HearsOf(operation) {
			t.Errorf("readers hear of %s: %t", operation, got)
		}
	}
}
