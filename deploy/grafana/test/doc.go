// Package test reads the dashboard with Grafana's own model of dashboards, and imports it as Grafana does. It is a
// module of its own, so that the program depends on no library of Grafana.
package test
