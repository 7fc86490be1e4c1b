// Package figure draws slides with contents from the caller. A Slide of 16:9 has a title, a subtitle, two panels and
// footnotes. A panel is a Chart (lines, with bands and truths, in linear or logarithmic axes) or Rows (one value a row,
// such as the error of each mechanism). Slide.Save writes SVG, or PNG of 1920 × 1080 pixels.
//
//	data      float64, in the unit in the name of an axis; NaN stands for a value that does not exist
//	truth     true value that a private number estimates
//	lengths   points, 1/72 inch, in the frame of 960 × 540 points that each slide has
//	colours   a Look is a colour and a dash; both differ between looks, for readers who cannot distinguish colours
//
// Equal slides give equal bytes. A slide has no text below 12 points, and no legend covers a line. The caller must keep
// titles and names short, because a slide shrinks only a title that is too wide.
package figure
