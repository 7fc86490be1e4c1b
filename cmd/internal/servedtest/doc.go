// Package servedtest serves operators. Each of its tests runs the processes of a deployment, kills some of them, and
// checks what the operator has published.
package servedtest
