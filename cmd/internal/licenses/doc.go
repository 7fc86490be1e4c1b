// Package licenses has the licences of the software that an oriel binary contains.
package licenses
