// Package servedtest serves operators: each of its tests runs the processes of a deployment, kills some, and looks at
// what the operator has published.
package servedtest
