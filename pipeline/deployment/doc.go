// Package deployment defines a deployment: its settings and its topics.
//
// The table roles lists each topic with its purpose, settings and checks. A new topic needs a row there, a field of
// Config and a field of Topics; creation, checks and transactions follow the table. A topic whose name users choose
// needs a setting too (cmd/internal/settings, DeploymentOf), and every topic needs a row under *Rights* in
// deploy/OPERATING.md.
//
// CheckTopics refuses topics under which a guarantee would not hold, and reports every problem at once. CreateTopics
// makes missing topics. Besides these two, only the functions for the descriptor do I/O.
package deployment
