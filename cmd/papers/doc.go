// Command papers measures what papers claim: their tables on public streams, and their algorithms beside those of the
// module. It is no service, and no user of one needs it.
package main
