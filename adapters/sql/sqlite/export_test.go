package sqlite

// Prepared returns c with every unit of work prepared beside the writer.
func Prepared(c Config) Config {
	c.prepare = true
	return c
}

// Limited returns c with a bound on the pages of the file, which makes a full disk.
func Limited(c Config, pages int) Config {
	c.pages = pages
	return c
}
