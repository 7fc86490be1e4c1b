// Package overpaid finds components of a contribution that events never move by as much as the components' noise
// covers. `oriel plan` and `oriel config` warn about these components.
package overpaid
