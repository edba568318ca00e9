package sqlite

// Limited returns c with a bound on the pages of the file, which makes a full disk.
func Limited(c Config, pages int) Config {
	c.pages = pages
	return c
}
