// Package connection has the settings of the connection to the brokers: addresses, TLS, and a login by password or by
// token (OAUTHBEARER). Check says which of them do not go together, and Client makes the configuration of the Kafka
// client. The table of the settings (cmd/internal/settings/rows.go) says how each of them is written.
package connection
