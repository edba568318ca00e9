package sqlite

import "os"

// named reports under how many names a file is reached; here the system does not say.
func named(os.FileInfo) uint64 { return 1 }
