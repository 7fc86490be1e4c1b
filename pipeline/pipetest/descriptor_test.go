package pipetest_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"oriel/operators"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// TestADescriptorIsPublishedOnce checks that `oriel topics` sends a descriptor once, replaces it by a later version's
// descriptor, and makes no topic if there is no descriptor.
func TestADescriptorIsPublishedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		client := d.Client()
		if err := s.Prepare(t.Context(), client, 2); err != nil {
			t.Fatal(err)
		}
		if cluster, err := topics.Describe(t.Context(), client, "late.descriptor"); err != nil || len(cluster.Topics) != 0 {
			t.Fatalf("topics without a descriptor: %+v, %v", cluster, err)
		}
		s.Config.Descriptor = "late.descriptor"
		says := func(descriptor []byte) {
			s.Model.Learner = pipetest.Blind{Descriptor: descriptor}.Learner()
		}
		says([]byte(`{"coordinates":["a","b"]}`))
		described := func() string {
			t.Helper()
			var said []string
			if err := s.Topics(t.Context(), client, func(what string) { said = append(said, what) }); err != nil {
				t.Fatal(err)
			}
			return strings.Join(said, "; ")
		}
		records := func() []records.Record {
			t.Helper()
			all, err := logtest.Read(t.Context(), client, "late.descriptor", 0, -1, fetch.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		for _, want := range []string{"created late.descriptor; published the descriptor", "", ""} {
			if said := described(); said != want {
				t.Errorf("said %q, want %q", said, want)
			}
		}
		if all := records(); len(all) != 1 || string(all[0].Key) != "late" || string(all[0].Value) != `{"coordinates":["a","b"]}` {
			t.Fatalf("records %+v", all)
		}
		says([]byte(`{"coordinates":["a","b"],"unit":"m"}`))
		for _, want := range []string{"published the descriptor", ""} {
			if said := described(); said != want {
				t.Errorf("said %q, want %q", said, want)
			}
		}
		if all := records(); len(all) != 2 || string(all[1].Value) != `{"coordinates":["a","b"],"unit":"m"}` {
			t.Fatalf("records %+v", all)
		}
		if cluster, err := topics.Describe(t.Context(), client, "late.descriptor"); err != nil ||
			cluster.Topics["late.descriptor"].Partitions != 1 {
			t.Errorf("%+v, %v: want one partition", cluster, err)
		}
		says([]byte(`{"coordinates":["c"]}`))
		if err := s.WholeTopic().Topics(t.Context(), client, func(string) {}); err == nil || len(records()) != 2 {
			t.Errorf("the descriptor of another configuration was published: %v", err)
		}
		says([]byte(`[1]`))
		if _, err := deployment.WriteDescriptor(
			t.Context(), client, s.Config, deployment.Topics{}, operators.DescriptorOf(s.Model.Learner.Operator()),
		); err == nil {
			t.Error("a descriptor that is no object was published")
		}
	})
}
