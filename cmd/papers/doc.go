// Command papers measures the claims of papers: it reproduces their tables on public streams, and compares their
// algorithms with those of this module. It is not a service, and users of Oriel do not need it.
package main
