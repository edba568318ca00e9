package fetch

// Public is public, for its table.
var Public = public
