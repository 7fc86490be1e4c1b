// Package deployment says what a deployment is: its settings and its topics.
//
// What each topic is for, how it is made and what is checked of it stands in one table, roles. A new topic is a row
// there, a field of Config and a field of Topics; creation, checks and transactions follow the table.
//
// CheckTopics refuses topics under which a guarantee would not hold, and reports every problem at once. CreateTopics
// makes those that are missing. Both need a broker; nothing else here does I/O but the descriptor.
package deployment
