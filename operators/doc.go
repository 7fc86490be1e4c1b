// Package operators defines an online-learning algorithm for the rest of Oriel: a pure machine that takes one record at
// a time and publishes a decision at the end of a step.
//
//	record    one input record, decoded or null, with its place in the log
//	step      the records from one call of Close to the next; the machine does not know why a step closes
//	decision  x_{t+1}, a dense vector, computed from the steps 1…t; the only output
//
// A machine owns no goroutine, lock, clock, logger or global randomness: equal state and equal records give equal
// bytes, on any CPU. Data reaches a decision only through the private sum of a mechanisms.Stream. All computations from
// that sum are post-processing and cost no privacy. operators/optest tests this: it feeds other events to a machine
// with the same sums, and expects the same bytes.
//
// The caller must:
//
//  1. Call Open once, BEFORE the first Add of a stream's life, and publish the decisions that it returns.
//  2. Call Add for every record of the stream, in log order, including null records, because the key of a null record
//     may answer an action.
//  3. Call Close at the end of each step. The walk of package streams closes a step after B records, null records
//     included. Other callers use a Counted, which does the same.
//  4. Copy or encode a Decision's Point BEFORE the machine's next call.
//  5. Save AppendState with the decisions it belongs to, in one transaction; the state is private and must be sealed.
//  6. Use one machine from one goroutine.
//
// # A new operator
//
// A new operator is a folder here. Outside the folder it changes three files:
//
//	cmd/internal/registry/registry.go  a row
//	deploy/examples/<name>.env         settings that people can start from
//	deploy/SETTINGS.md                 written by: go test ./cmd/internal/settings -rewrite
//
// `oriel config`, schema, plan, audit, topics, run, replay, tail and the settings table follow from the folder. In it:
//
//	doc.go      the package comment
//	Definition  name, settings, how events are decoded (an event.Body, and whether record keys are read), and New, which
//	            reports all problems of the settings at once: v.Want("CLIP", …) takes the name without ORIEL_. Call the
//	            steps between decisions EMIT_EVERY (setting.EmitEvery), because `oriel plan` reads it, and be Thinning.
//	            setting.Dimension is the setting of a vector's length
//	Operator    five methods: Require sets the contribution of a record (contribution.Contribution), Params freezes lists
//	            and files, Open makes a machine and must refuse a stream with other Terms than Common.Terms, Extras lists
//	            further members of decisions, Describe serves `oriel plan` and lists the mechanisms that the operator
//	            takes. One function declares the members (Members, and Lifetime of them): machine and reference model set
//	            and read values by the handles. Every decision has a value for each member, in both topics. A
//	            second topic, scores, statistics and the like are interfaces of their own, found by assertion: see
//	            operator.go. Assert yours (var _ operators.Scorer = operator{}), because a method with another signature
//	            is otherwise ignored
//	Machine     the algorithm. It embeds Base, which saves and restores its Fields. A field with contents of records
//	            must be a PrivateField, because neighbouring streams share the state of all others. It writes Add and
//	            Close:
//
//	                adds := m.Stream.Scratch()             // Add: numbers of the record; nil if it contributes nothing
//	                m.Stream.Add(r.Identity, adds)
//
//	                m.Stream.Close()                       // Close
//	                first, count := m.Due(m.Stream.Step()) // indices of this step's decisions, 0 of them if none is due
//	                sum := m.Stream.Sum(0)                 // released, with noise
//
//	            With a second topic Count is 2: both topics share one sequence of indices, step t has 2t − 1 and 2t, and
//	            decisions of the second have Output 1. Sums under another memory H are a Stream.Reading: call its Take
//	            after each step, and make it a field by Sums; they hold mechanisms.Weight(protection.Decay{Steps: H}, t)
//	            steps. loss.Features writes a vector. Feedback that comes later waits in a pending.Table or actions.Table.
//	            Draws come from Stream.Choose, which refuses them after the last step (Stream.Ended); their scores must
//	            follow from releases. Floats decide bytes on every CPU: in the whole folder lint names products that may
//	            fuse, and functions that differ between CPUs
//	Reference   a ReferenceModel: the contribution of a record again, by slow and plain code, for `oriel audit`; Stateless
//	            has all its methods but Contribution and Canary. `oriel plan` warns where its canaries move a component
//	            by far less than the noise is for
//	PROOF.md    why decisions are post-processing of the sums, what a draw costs, how far an exchanged event moves them;
//	            it names the tests that would turn red
//	tests       optest.Run (RunHolding if the state holds contents of events beside the sums), optest.RunTerms if
//	            Require keeps Common.Terms, a slow reference for each fast path, a planted fault for each claim;
//	            testdata/stories, transcripts of commands and decisions, at least one (cmd/internal/operatortest)
//
// The canonical configuration has a line for each setting, with a digest of each list and file; Params must hold their
// contents. An operator whose bytes others build on also gets golden cases and published schemas
// (cmd/internal/decisiontest/testdata/cases.txt, cmd/oriel/schema_test.go, cmd/internal/bubbletest/subject_test.go). An
// operator with draws, feedback and a second topic is in cmd/oriel/testdata/toy.
package operators
