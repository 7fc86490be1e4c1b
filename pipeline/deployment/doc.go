// Package deployment defines a deployment: its settings and its topics.
//
// One table, roles, has the purpose of each topic, its settings and its checks. A new topic is a row there, a field of
// Config and a field of Topics; creation, checks and transactions follow the table. A topic whose
// name users choose needs a setting too (cmd/internal/settings, DeploymentOf), and each a row under *Rights* in
// deploy/OPERATING.md.
//
// CheckTopics refuses topics under which a guarantee would not hold, and reports every problem at once. CreateTopics
// makes missing topics. Both need a broker; apart from them, only the descriptor does I/O here.
package deployment
