// Package catalogue lists the feasible sets that settings can name, and makes a set from its description.
//
// The tests here run over the whole list: each oracle and projection of each set is compared with a slow reference.
package catalogue
