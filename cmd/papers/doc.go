// Command papers measures the claims of papers: their tables on public streams, and their algorithms beside those of
// this module. It is not a service, and users of Oriel do not need it.
package main
