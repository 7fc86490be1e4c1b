// Package names computes figures of a stream that counts names: its threshold and noise, and which counts are published
// almost always. It says how many names of single persons pass in a year, and which law is better for a unit in many
// steps.
package names
