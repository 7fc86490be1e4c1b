// Package figuretest holds slides to what package figure promises: text that can be read, and legends that cover no
// line. It looks at what a slide draws, and at nothing that the slide says of itself.
package figuretest
